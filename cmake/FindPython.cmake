# SPDX-License-Identifier: Apache-2.0
#
# Sets Python3_FOUND and Python3_EXECUTABLE, regardless of the user's settings for other Python programs.
include_guard(GLOBAL)
execute_process(COMMAND ${CMAKE_COMMAND} -E environment OUTPUT_VARIABLE variables)
string(REGEX MATCHALL "(^|\n)PYTHON[A-Z0-9_]*=" variables "${variables}")
foreach(variable IN LISTS variables)
  string(REGEX REPLACE "[\n=]" "" variable "${variable}")
  unset(ENV{${variable}})
endforeach()
find_package(Python3 3.11 COMPONENTS Interpreter QUIET)
