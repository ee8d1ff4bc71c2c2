# Writes OUTPUT with the commit of SOURCE, and the differences of its work tree without the folder BUILD. The
# source is a program's with OF=git, or the harness's with OF=harness. A tree is clean only if git can compare
# all of it: an error, or a setting that hides changes, counts as dirty.

# some of git's variables, set by hooks, name another repository; others change what git compares
execute_process(COMMAND ${CMAKE_COMMAND} -E environment OUTPUT_VARIABLE variables)
string(REGEX MATCHALL "(^|\n)GIT_[A-Za-z0-9_]+" variables "${variables}")
foreach(variable IN LISTS variables)
  string(STRIP "${variable}" variable)
  unset(ENV{${variable}})
endforeach()
# a mounted work tree may have another owner; reading its commit is harmless
set(git git -c safe.directory=* -c core.fsmonitor=false -c core.untrackedCache=false
        -c core.checkStat=default -c core.trustctime=true -c core.quotePath=false -C "${SOURCE}")
execute_process(COMMAND ${git} rev-parse HEAD OUTPUT_VARIABLE commit RESULT_VARIABLE failed
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
# a repository around an unpacked archive or a copy does not contain these files
execute_process(COMMAND ${git} ls-files --error-unmatch CMakeLists.txt RESULT_VARIABLE foreign
                OUTPUT_QUIET ERROR_QUIET)
# in a copied submodule, or with core.worktree, git compares another folder
execute_process(COMMAND ${git} rev-parse --show-toplevel OUTPUT_VARIABLE top
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(REAL_PATH "${SOURCE}" source)
cmake_path(IS_PREFIX top "${source}" compared)
if(failed OR foreign OR NOT compared)
  set(failed TRUE)
  set(commit unknown)
endif()
# a build's output is not a change, whether git ignores it or not
set(outside "")
cmake_path(IS_PREFIX SOURCE "${BUILD}" NORMALIZE within)
if(within AND NOT BUILD STREQUAL SOURCE)
  file(RELATIVE_PATH build "${SOURCE}" "${BUILD}")
  set(outside ":(exclude,literal)${build}")
endif()
execute_process(COMMAND ${git} status --porcelain --untracked-files=normal --ignored=matching
                        --ignore-submodules=none -- :/ ${outside}
                OUTPUT_VARIABLE changes RESULT_VARIABLE no_status ERROR_QUIET)
# the user's settings may hide notes and folders, but not source files, which the build uses
execute_process(COMMAND ${git} ls-files -o -i --exclude-standard -- experiments kernels ${outside}
                OUTPUT_VARIABLE ignored ERROR_QUIET)
string(REGEX REPLACE "([^\n]+)\n" "!! \\1\n" ignored "${ignored}")
string(REGEX MATCHALL "!! [^\n]*\\.(cu|cuh|c|cc|cpp|cxx|h|hpp|hxx|inl|cmake|toml)\"?\n" hidden "${changes}${ignored}")
string(REGEX REPLACE "!! [^\n]*\n" "" changes "${changes}")
# files marked assume-unchanged or skip-worktree have a letter other than H
execute_process(COMMAND ${git} ls-files -v -- :/ ${outside} OUTPUT_VARIABLE unwatched RESULT_VARIABLE no_list
                ERROR_QUIET)
string(REGEX REPLACE "(^|\n)H [^\n]*" "" unwatched "${unwatched}")
string(STRIP "${changes}${hidden}${unwatched}" changes)
set(dirty false)
if(failed OR no_status OR no_list OR NOT changes STREQUAL "")
  set(dirty true)
endif()
set(diff "")
if(dirty AND NOT failed)
  # includes the list of changes, and the contents of the files that git diff leaves out
  execute_process(COMMAND ${git} ls-files -o --exclude-standard -- :/ ${outside} OUTPUT_VARIABLE others
                  ERROR_QUIET)
  string(REGEX REPLACE "(^|\n)(!!|[A-Za-z]) " "\\1" marked "${unwatched}")
  string(REGEX REPLACE "!! " "" hidden "${hidden}")
  string(REGEX MATCHALL "[^\n]+" others "${others}\n${marked}\n${hidden}")
  foreach(file IN LISTS others)
    if(EXISTS "${SOURCE}/${file}" AND NOT IS_DIRECTORY "${SOURCE}/${file}")
      file(SHA256 "${SOURCE}/${file}" content)
      string(APPEND changes "${content}")
    endif()
  endforeach()
  execute_process(COMMAND ${git} diff HEAD --binary --no-color --no-ext-diff --no-textconv
                  OUTPUT_VARIABLE diff ERROR_QUIET)
  string(SHA256 diff "${changes}${diff}")
  string(SUBSTRING ${diff} 0 16 diff)
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
// made by git_info.cmake
#include "experiments/harness/base/build_info.hpp"

const char* const recheck::build::@OF@_commit = "@commit@";
const bool recheck::build::@OF@_dirty = @dirty@;
const char* const recheck::build::@OF@_diff = "@diff@";
]] @ONLY)
