# SPDX-License-Identifier: Apache-2.0
# cmake -D CASE=article|subdirectory -D BUILD=FOLDER -D SOURCE=FOLDER -D SCRATCH=FOLDER
#       -D NVCC=PROGRAM -D ARCHITECTURES=LIST -D PYTHON=PROGRAM -P outside_test.cmake
#
# Recheck in projects of others. An article of somebody else's: builds tests/outside against an installed
# Recheck, proves its rows, measures and renders. A subdirectory: looks at what Recheck leaves in a project that adds its sources.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH})
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# for one architecture, and not optimised: nothing of this is run for its speed
set(options -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS_RELEASE=-O0)
if(NVCC)
  list(GET ARCHITECTURES -1 architecture)
  list(APPEND options -D CMAKE_CUDA_COMPILER=${NVCC} -D CMAKE_CUDA_ARCHITECTURES=${architecture}
       "-DCMAKE_CUDA_FLAGS_RELEASE=-O0 -Xptxas=-O0")
else()
  list(APPEND options -D CMAKE_CUDA_COMPILER=OFF)
endif()
if(PYTHON)
  list(APPEND options -D Python3_EXECUTABLE=${PYTHON})
endif()

# Configures a project in SCRATCH/<name>; what there is to know of the compilers the build knows.
function(configure name codes)
  file(COPY ${BUILD}/CMakeFiles/${CMAKE_VERSION} DESTINATION ${SCRATCH}/${name}/CMakeFiles)
  run("${codes}" ${CMAKE_COMMAND} ${options} -B ${SCRATCH}/${name} ${ARGN})
  set(said "${said}" PARENT_SCOPE)
endfunction()

# what the build has fetched for itself
set(ENV{CMAKE_PREFIX_PATH} ${BUILD}/distribution/usr)
if(NOT CASE STREQUAL subdirectory)
  run(0 ${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
  list(APPEND options -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix)
endif()

if(CASE STREQUAL article)
  file(COPY ${SOURCE}/tests/outside/ DESTINATION ${SCRATCH}/source PATTERN results EXCLUDE)
  # and the manual's example beside it
  file(READ ${SOURCE}/experiments/README.md manual)
  foreach(part "axpy.cu;cuda" "axpy.hpp;hpp" "table.cpp;cpp")
    list(GET part 0 file)
    list(GET part 1 language)
    if(NOT manual MATCHES "```${language}\n([^`]+)```")
      message(FATAL_ERROR "experiments/README.md has no ${file}")
    endif()
    file(WRITE ${SCRATCH}/source/manual/${file} "${CMAKE_MATCH_1}")
  endforeach()
  file(APPEND ${SCRATCH}/source/CMakeLists.txt
       "recheck_add_experiments(axpy SOURCES manual/table.cpp manual/axpy.cu CLAIMS claims)\n")
  configure(outside 0 -S ${SCRATCH}/source)
  set(outside ${SCRATCH}/outside)
  run(0 ${CMAKE_COMMAND} --build ${outside})
  if(NVCC)
    configure(without 1 -S ${SCRATCH}/source -D CMAKE_CUDA_COMPILER=OFF)
    string(REGEX REPLACE "[ \n]+" " " said "${said}")
    expect("${said}" "this Recheck was built with CUDA: enable the language CUDA before find_package")
  endif()

  run("0;77" ${outside}/reduction --gate)
  expect("${said}" "reduction/cpu_serial: passed 22 times")
  run("0;77" ${outside}/axpy --gate)
  expect("${said}" "axpy/serial: passed 10 times")
  if(NOT "${said}" MATCHES "axpy/axpy: not run: ")
    expect("${said}" "axpy/axpy: passed 10 times")
  endif()
  run("0;77" ${outside}/reduction --gate --experiment=audit)
  expect("${said}" "audit/")
  run(0 ${outside}/reduction --help)
  expect("${said}" "only these of reduction, machine, audit")
  run(0 ${outside}/reduction --experiment=reduction,machine --shape=4194304 --regime=cold,hot
        --per-case=0.05 --output=${outside}/reduction_measured)
  expect("${said}" "finished after")
  if(PYTHON)
    run(0 ${CMAKE_COMMAND} --build ${outside} --target reduction_render)
    file(READ ${outside}/reduction_report/README.md report)
    expect("${report}" "of 10 claims hold")
    expect("${report}" "Optimizing Parallel Reduction in CUDA")
  endif()
else()
  # no target without Recheck's name, and no test
  configure(within 0 -S ${SOURCE}/tests/outside -D RECHECK_SOURCE=${SOURCE})
  run(0 ${CMAKE_COMMAND} --build ${SCRATCH}/within --target help)
  foreach(target report quick_report render verify compare publish recheck_tests)
    if("${said}" MATCHES "\n${target}: ")
      message(FATAL_ERROR "the target ${target} is in a project that adds Recheck as a subdirectory")
    endif()
  endforeach()
  expect("${said}" "reduction_report: ")
endif()
