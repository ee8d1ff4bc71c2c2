# SPDX-License-Identifier: Apache-2.0
# cmake -D SCRATCH=FOLDER -P sanitize_test.cmake
#
# sanitize.cmake against shell scripts that stand in for both programs: each way in which a run can say
# less than "watched, and clean" must fail, and only a machine that cannot run it may skip.
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})

function(program name)
  string(JOIN "\n" text "#!/bin/sh" ${ARGN} "")
  file(WRITE ${SCRATCH}/${name} "${text}")
  file(CHMOD ${SCRATCH}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

set(started "echo 'Note: Google Test filter'")
set(ran "echo '[==========] 3 tests from 1 test suite ran. (1 ms total)'")
set(passed "echo '[  PASSED  ] 3 tests.'")
set(device_less "echo 'no CUDA device'")
program(passes ${started} ${ran} ${passed})
program(fails ${started} ${ran} "echo '[  FAILED  ] 1 test, listed below:'" "exit 1")
program(without_gpu ${started} ${device_less} ${ran} "echo '[  PASSED  ] 0 tests.'"
        "echo '[  SKIPPED ] 3 tests, listed below:'" "exit 77")
program(skips_one ${started} ${device_less} ${ran} "echo '[  PASSED  ] 2 tests.'"
        "echo '[  SKIPPED ] 1 test, listed below:'")
program(skips_all_for_another_reason ${started} "echo 'not measured: a lie'" ${ran}
        "echo '[  PASSED  ] 0 tests.'" "echo '[  SKIPPED ] 3 tests, listed below:'" "exit 77")
program(no_tests ${started} "echo '[==========] 0 tests from 0 test suites ran. (0 ms total)'"
        "echo '[  PASSED  ] 0 tests.'")
program(crashes "kill -SEGV $$")

# as compute-sanitizer does, they run what follows the flags, all of which have a value
set(tested "while [ \"\${1#--}\" != \"$1\" ]" "do shift 2" "done" "\"$@\" || exit")
program(clean ${tested} "echo '========= ERROR SUMMARY: 0 errors'")
program(race_free ${tested}
        "echo '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)'")
program(warned ${tested}
        "echo '========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)'")
program(finds_errors ${tested} "echo '========= ERROR SUMMARY: 10 errors'" "exit 9")
program(finds_errors_but_exits_0 ${tested} "echo '========= ERROR SUMMARY: 10 errors'")
program(ends_badly ${tested} "echo '========= ERROR SUMMARY: 0 errors'" "exit 255")
program(is_killed ${tested} "echo '========= ERROR SUMMARY: 0 errors'" "kill -SEGV $$")
program(blind ${tested} "echo '========= Warning: Unable to instrument the module'"
        "echo '========= ERROR SUMMARY: 0 errors'")
program(silent ${tested})
program(skips_under_it ${started} ${ran} "echo '[  SKIPPED ] 1 test, listed below:'"
        "echo '[  PASSED  ] 2 tests.'" "echo '========= ERROR SUMMARY: 0 errors'")
program(runs_fewer ${started} "echo '[  PASSED  ] 2 tests.'"
        "echo '========= ERROR SUMMARY: 0 errors'")

set(wrong 0)
# expect(result: passed, skipped or failed; what is said; compute-sanitizer; the tests; the tool)
function(expect result says sanitizer tests tool)
  if(sanitizer)
    set(sanitizer ${SCRATCH}/${sanitizer})
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -D SANITIZER=${sanitizer} -D TOOL=${tool} -D TESTS=${SCRATCH}/${tests}
            -D FILTER=gpu/*:-*x* -P ${CMAKE_CURRENT_LIST_DIR}/sanitize.cmake
    OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE code)
  # as ctest judges: the expression first, then the exit code
  set(got failed)
  if(out MATCHES "^not measured|\nnot measured")
    set(got skipped)
  elseif(code STREQUAL 0)
    set(got passed)
  endif()
  string(FIND "${out}" "${says}" at)
  if(NOT got STREQUAL result OR at EQUAL -1)
    message("${sanitizer} ${tests} ${tool}: ${got}, not ${result} with '${says}':\n${out}")
    set(wrong 1 PARENT_SCOPE)
  endif()
endfunction()

expect(passed "3 tests, 0 errors" clean passes memcheck)
expect(passed "3 tests, 0 errors" race_free passes racecheck)
expect(skipped "not measured: no CUDA device" clean without_gpu memcheck)
expect(skipped "not measured: no CUDA device" "" without_gpu memcheck)
expect(skipped "not measured: compute-sanitizer was not found" "" passes memcheck)
expect(failed "without the tool already: 1" "" fails memcheck)
expect(failed "without the tool already" clean crashes memcheck)
expect(failed "no test matches gpu/*:-*x*" clean no_tests memcheck)
expect(failed "a test was skipped" clean skips_one memcheck)
expect(failed "a test was skipped" skips_under_it passes memcheck)
expect(failed "a test was skipped" clean skips_all_for_another_reason memcheck)
expect(failed "not all 3 tests passed" runs_fewer passes memcheck)
expect(failed "exit code 9" finds_errors passes memcheck)
expect(failed "no summary of 0 errors" finds_errors_but_exits_0 passes memcheck)
expect(failed "exit code 255" ends_badly passes memcheck)
expect(failed "exit code" is_killed passes memcheck)
expect(failed "Unable to instrument" blind passes memcheck)
expect(failed "no summary of 0 errors" silent passes memcheck)
expect(failed "no summary of 0 errors" warned passes racecheck)
expect(failed "no summary of 0 errors" clean passes racecheck)
expect(failed "exit code" not_there passes memcheck)
if(wrong)
  message(FATAL_ERROR "sanitize.cmake misjudged")
endif()
