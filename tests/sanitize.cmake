# SPDX-License-Identifier: Apache-2.0
# cmake -D SANITIZER=PROGRAM -D TOOL=memcheck -D TESTS=PROGRAM -D FILTER=... [-D LEFT_OUT=...] [-D SHARD=--shard=0/4]
#       -P sanitize.cmake
#
# Runs tests under one tool of compute-sanitizer. It passes only if every chosen test runs, none is
# skipped, and a summary reports no errors; an exit code or missing output is not enough.
include(${CMAKE_CURRENT_LIST_DIR}/skip.cmake)
function(run output code)
  execute_process(COMMAND ${ARGN} "--gtest_filter=${FILTER}${LEFT_OUT}" --gtest_color=no ${SHARD}
    OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE result)
  set(${output} "${out}" PARENT_SCOPE)
  set(${code} "${result}" PARENT_SCOPE)
endfunction()

# message() does not wrap lines that are indented
function(fail reason)
  string(REPLACE "\n" "\n  " quoted "\n${output}")
  message(FATAL_ERROR "${TOOL}: ${reason}${quoted}")
endfunction()

# the tool does not follow a program that restarts itself, as tests/main.cpp does if one of these is set
execute_process(COMMAND ${CMAKE_COMMAND} -E environment OUTPUT_VARIABLE variables)
string(REGEX MATCHALL "[A-Z_]*(GTEST|TESTBRIDGE|XML_OUTPUT|BENCHMARK)_[A-Z_]+" variables "${variables}")
foreach(variable IN LISTS variables)
  unset(ENV{${variable}})
endforeach()
# first without the tool: this finds failures that have nothing to do with it, and counts the tests
run(output code ${TESTS})
# 77: all tests were skipped; the reason is checked below
if(NOT code STREQUAL 0 AND NOT code STREQUAL 77)
  fail("the tests fail without the tool already: ${code}")
endif()
string(REGEX MATCH "\n\\[==========\\] ([0-9]+) tests?[^\n]* ran\\." found "${output}")
set(tests "${CMAKE_MATCH_1}")
if(NOT tests GREATER 0)
  fail("no test matches ${FILTER}")
endif()
# without a usable device, or a toolkit to build for one, all tests are skipped and nothing can be checked
if(output MATCHES "\n\\[  SKIPPED \\] ${tests} tests?,"
   AND output MATCHES "\n((no CUDA device|the NVIDIA driver|the CUDA device cannot|built without)[^\n]*)\n")
  skip("${CMAKE_MATCH_1}")
endif()
if(NOT SANITIZER)
  skip("compute-sanitizer was not found")
endif()

# under racecheck the gate's poisoning of all shared memory before every launch is fifty times slower
# than the tested kernels
set(left_out)
if(TOOL STREQUAL racecheck)
  set(left_out --kernel-name-exclude kns=poison_shared_kernel)
endif()
run(output code ${SANITIZER} --tool ${TOOL} ${left_out} --error-exitcode 9 ${TESTS})
if(output MATCHES "SKIPPED")
  fail("a test was skipped")
endif()
if(NOT code STREQUAL 0)
  fail("exit code ${code}")
endif()
if(output MATCHES "\n(=+ [^\n]*([Uu]nable to|not supported|[Uu]nsupported|[Ff]ailed to)[^\n]*)")
  fail("not everything was watched: ${CMAKE_MATCH_1}")
endif()
if(NOT output MATCHES "\n\\[  PASSED  \\] ${tests} tests?\\.")
  fail("not all ${tests} tests passed")
endif()
set(clean "ERROR SUMMARY: 0 errors")
if(TOOL STREQUAL racecheck)
  set(clean "RACECHECK SUMMARY: 0 hazards displayed \\(0 errors, 0 warnings\\)")
endif()
if(NOT output MATCHES "${clean}")
  fail("no summary of 0 errors")
endif()
message("${TOOL}: ${tests} tests, 0 errors")
