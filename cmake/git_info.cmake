# Writes OUTPUT with the commit of SOURCE, and whether and how its work tree differs from it, the folder
# BUILD within it left out. HEADERS is where Recheck's headers are.
# the owner of a mounted work tree may be someone else: reading its commit is harmless
set(git git -c safe.directory=* -C ${SOURCE})
execute_process(COMMAND ${git} rev-parse HEAD OUTPUT_VARIABLE commit RESULT_VARIABLE failed
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed)
  set(commit unknown)
endif()
# what a build makes is no change, whether git has been told to ignore it or not
set(there ":/")
cmake_path(IS_PREFIX SOURCE "${BUILD}" NORMALIZE within)
if(within AND NOT BUILD STREQUAL SOURCE)
  file(RELATIVE_PATH build ${SOURCE} ${BUILD})
  list(APPEND there ":(exclude,literal)${build}")
endif()
execute_process(COMMAND ${git} status --porcelain -- ${there} OUTPUT_VARIABLE changes ERROR_QUIET)
set(dirty false)
set(diff "")
if(failed OR NOT changes STREQUAL "")
  set(dirty true)
endif()
if(dirty AND NOT failed)
  # the list of changes goes in too: it names what is untracked
  execute_process(COMMAND ${git} diff HEAD --binary --no-color --no-ext-diff --no-textconv
                  OUTPUT_VARIABLE diff ERROR_QUIET)
  string(SHA256 diff "${changes}${diff}")
  string(SUBSTRING ${diff} 0 16 diff)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
// made by git_info.cmake
#include "@HEADERS@/experiments/harness/build_info.hpp"

const char* const recheck::build::git_commit = "@commit@";
const bool recheck::build::git_dirty = @dirty@;
const char* const recheck::build::git_diff = "@diff@";
]] @ONLY)
