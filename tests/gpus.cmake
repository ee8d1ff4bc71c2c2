# SPDX-License-Identifier: Apache-2.0
#
# Spreads tests over the GPUs of a host: CTest gives each a GPU out of a list, which
#   cmake -D OUTPUT=gpus.json -P gpus.cmake
# writes. From CMake 3.28 on CTest has it written by a test before the others, for the GPUs that there are
# then; before, it is written when the project is configured, and CTest is told of it by
# --resource-spec-file. Without it all share the first GPU.
#
# Tests share a GPU as processes can: this many of them at once.
set(recheck_gpu_slots 8)

# The GPUs that CUDA_VISIBLE_DEVICES leaves, or else all; where nobody can tell, one: tests say
# themselves that there is none.
function(recheck_count_gpus result)
  if(DEFINED ENV{CUDA_VISIBLE_DEVICES})
    # CUDA takes those before the first that is none
    string(REGEX REPLACE "(^|,) *-1.*" "" visible "$ENV{CUDA_VISIBLE_DEVICES}")
    string(REPLACE "," ";" visible "${visible}")
    list(LENGTH visible count)
  else()
    execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE listed ERROR_QUIET TIMEOUT 15)
    # of GPUs that are cut in MIG instances, CUDA shows a process the first instance alone
    string(REGEX MATCHALL "(^|\n)GPU [0-9]+:" gpus "${listed}")
    list(LENGTH gpus count)
    if(listed MATCHES "\n +MIG ")
      set(count 1)
    endif()
  endif()
  if(count EQUAL 0)
    set(count 1)
  endif()
  set(${result} ${count} PARENT_SCOPE)
endfunction()

function(recheck_write_gpus file)
  recheck_count_gpus(count)
  set(gpus "")
  foreach(index RANGE 1 ${count})
    math(EXPR id "${index} - 1")
    list(APPEND gpus "{\"id\": \"${id}\", \"slots\": ${recheck_gpu_slots}}")
  endforeach()
  list(JOIN gpus ", " gpus)
  file(WRITE ${file} "{\"version\": {\"major\": 1, \"minor\": 0}, \"local\": [{\"gpus\": [${gpus}]}]}\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND OUTPUT)
  recheck_write_gpus(${OUTPUT})
  return()
endif()

set(recheck_gpus_script ${CMAKE_CURRENT_LIST_FILE})
set(recheck_gpus_file ${CMAKE_CURRENT_BINARY_DIR}/gpus.json)
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.28)
  add_test(NAME gpu.list COMMAND ${CMAKE_COMMAND} -D OUTPUT=${recheck_gpus_file} -P ${recheck_gpus_script})
  set_tests_properties(gpu.list PROPERTIES
    LABELS harness FIXTURES_SETUP gpus GENERATED_RESOURCE_SPEC_FILE ${recheck_gpus_file})
else()
  recheck_write_gpus(${recheck_gpus_file})
  recheck_count_gpus(count)
  if(count GREATER 1)
    message(STATUS "${count} GPUs, of which tests use the first: ctest --resource-spec-file \
${recheck_gpus_file} spreads them (from CMake 3.28 on it does so by itself)")
  endif()
endif()

# Each of these tests gets a place on one of the GPUs; with the word ALONE in front, a whole one.
function(recheck_on_a_gpu)
  set(slots 1)
  if(ARGV0 STREQUAL "ALONE")
    set(slots ${recheck_gpu_slots})
    list(POP_FRONT ARGV)
  endif()
  set_tests_properties(${ARGV} PROPERTIES RESOURCE_GROUPS gpus:${slots})
  if(TEST gpu.list)
    set_tests_properties(${ARGV} PROPERTIES FIXTURES_REQUIRED gpus)
  endif()
endfunction()
