# SPDX-License-Identifier: Apache-2.0
# cmake -D BUILD=FOLDER -D SOURCE=FOLDER -D SCRATCH=FOLDER -D NVCC=PROGRAM -D ARCHITECTURES=LIST
#       -D PYTHON=PROGRAM -P outside_test.cmake
#
# An article of somebody else's, in a project of its own: builds tests/outside against an installed
# Recheck, proves its rows, measures and renders; then looks at what Recheck leaves in a project that
# adds it as a subdirectory.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH})

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

run(0 ${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
set(options -G Ninja -S ${SOURCE}/tests/outside -D CMAKE_BUILD_TYPE=Release)
if(NVCC)
  list(APPEND options -D CMAKE_CUDA_COMPILER=${NVCC} "-DCMAKE_CUDA_ARCHITECTURES=${ARCHITECTURES}")
else()
  list(APPEND options -D CMAKE_CUDA_COMPILER=OFF)
endif()
if(PYTHON)
  list(APPEND options -D Python3_EXECUTABLE=${PYTHON})
endif()
set(outside ${SCRATCH}/outside)
run(0 ${CMAKE_COMMAND} ${options} -B ${outside} -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix)
run(0 ${CMAKE_COMMAND} --build ${outside})

if(NVCC)
  run(1 ${CMAKE_COMMAND} ${options} -B ${SCRATCH}/without -D CMAKE_CUDA_COMPILER=OFF
        -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  expect("${said}" "this Recheck was built with CUDA: enable the language CUDA before find_package")
endif()

run("0;77" ${outside}/reduction --gate)
expect("${said}" "reduction/cpu_serial: passed 22 times")
run("0;77" ${outside}/reduction --gate --experiment=audit)
expect("${said}" "audit/")
run(0 ${outside}/reduction --help)
expect("${said}" "only these of reduction, machine, audit")
run(0 ${outside}/reduction --quick --per-case=0.05 --output=${outside}/reduction_measured)
expect("${said}" "finished after")
if(PYTHON)
  run(0 ${CMAKE_COMMAND} --build ${outside} --target reduction_probes)
  run(0 ${CMAKE_COMMAND} --build ${outside} --target reduction_render)
  file(READ ${outside}/reduction_report/README.md report)
  expect("${report}" "of 10 claims hold")
  expect("${report}" "Optimizing Parallel Reduction in CUDA")
endif()

# the kernels alone: the README's program, which runs where there is a GPU
if(NVCC)
  file(READ ${SOURCE}/README.md readme)
  if(NOT readme MATCHES "```cpp\n(#include <cuda_runtime.h>[^`]+)```")
    message(FATAL_ERROR "README.md has no program that uses recheck::kernels")
  endif()
  file(WRITE ${SCRATCH}/product.cpp "${CMAKE_MATCH_1}")
  cmake_path(GET NVCC PARENT_PATH toolkit)
  set(library -G Ninja -S ${SOURCE}/tests/library -D EXAMPLE=${SCRATCH}/product.cpp
      -D CUDAToolkit_ROOT=${toolkit}/..)
  run(0 ${CMAKE_COMMAND} ${library} -B ${SCRATCH}/library -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix)
  run(0 ${CMAKE_COMMAND} --build ${SCRATCH}/library)
  # no component but these, and the headers are C++17
  run(1 ${CMAKE_COMMAND} ${library} -B ${SCRATCH}/library_mistaken -D COMPONENT=kernel
        -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix)
  expect("${said}" "there is no component kernel, only harness and kernels")
  file(WRITE ${SCRATCH}/all.cu "#include <recheck/matmul.hpp>\n#include <recheck/matvec.hpp>\n#include <recheck/transpose.hpp>\n")
  run(0 ${NVCC} -std=c++17 -I${SCRATCH}/prefix/include -c ${SCRATCH}/all.cu -o ${SCRATCH}/all.o)
  run("0;1" ${SCRATCH}/library/product)
  if(NOT "${said}" MATCHES "no CUDA-capable device|driver version is insufficient")
    run(0 ${SCRATCH}/library/product)
    expect("${said}" ": 1000000 of 1000000 elements are right")
  endif()
endif()

# as a subdirectory: no target without Recheck's name, and no test
run(0 ${CMAKE_COMMAND} ${options} -B ${SCRATCH}/within -D RECHECK_SOURCE=${SOURCE})
run(0 ${CMAKE_COMMAND} --build ${SCRATCH}/within --target help)
foreach(target report quick_report render verify compare publish probes accuracy recheck_tests)
  if("${said}" MATCHES "\n${target}: ")
    message(FATAL_ERROR "the target ${target} is in a project that adds Recheck as a subdirectory")
  endif()
endforeach()
expect("${said}" "reduction_report: ")
