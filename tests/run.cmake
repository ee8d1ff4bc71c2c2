# SPDX-License-Identifier: Apache-2.0
#
# For tests that are CMake scripts.
include(${CMAKE_CURRENT_LIST_DIR}/skip.cmake)

# Runs a command, which must end with one of the exit codes CODES; stores its output in `said`.
function(run codes)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE code)
  if(NOT code IN_LIST codes)
    message(FATAL_ERROR "${ARGN}: exit code ${code}\n${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()
function(expect text words)
  string(FIND "${text}" "${words}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "'${words}' is not in\n${text}")
  endif()
endfunction()
