# Writes OUTPUT with the commit of SOURCE, and whether and how its work tree differs from it, the folder
# BUILD within it left out: of a program's source, or with OF=harness of the harness's.
if(NOT OF)
  set(OF git)
endif()

# a hook has these set for a repository of its own
foreach(variable GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE)
  unset(ENV{${variable}})
endforeach()
# the owner of a mounted work tree may be someone else: reading its commit is harmless
set(git git -c safe.directory=* -C "${SOURCE}")
execute_process(COMMAND ${git} rev-parse HEAD OUTPUT_VARIABLE commit RESULT_VARIABLE failed
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
# a repository around an unpacked archive, or around a copy, knows nothing of these files
execute_process(COMMAND ${git} ls-files --error-unmatch CMakeLists.txt RESULT_VARIABLE foreign
                OUTPUT_QUIET ERROR_QUIET)
if(failed OR foreign)
  set(failed TRUE)
  set(commit unknown)
endif()
# what a build makes is no change, whether git has been told to ignore it or not
set(there ":/")
cmake_path(IS_PREFIX SOURCE "${BUILD}" NORMALIZE within)
if(within AND NOT BUILD STREQUAL SOURCE)
  file(RELATIVE_PATH build "${SOURCE}" "${BUILD}")
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
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
// made by git_info.cmake
#include "experiments/harness/build_info.hpp"

const char* const recheck::build::@OF@_commit = "@commit@";
const bool recheck::build::@OF@_dirty = @dirty@;
const char* const recheck::build::@OF@_diff = "@diff@";
]] @ONLY)
