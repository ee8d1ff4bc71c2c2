# SPDX-License-Identifier: Apache-2.0
# cmake -D BUILD=FOLDER -D SOURCE=FOLDER -D SCRATCH=FOLDER -D NVCC=PROGRAM -D ARCHITECTURES=LIST -D PYTHON=PROGRAM
#       -P contributing_test.cmake
#
# Checks what CONTRIBUTING says about adding a strategy, an experiment, a claim and a chart: applies the diffs of
# contributing/ to a copy of this tree, compiles what they add, proves it and renders with it.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH})
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
find_program(GIT git)
if(NOT GIT)
  skip("git was not found")
endif()
set(tree ${SCRATCH}/tree)
file(GLOB all ${SOURCE}/*)
list(FILTER all EXCLUDE REGEX "/(build[^/]*|shared)$")
file(COPY ${all} DESTINATION ${tree})

# the files that a diff changes, not counting those that it adds
function(expect_changes diff)
  file(STRINGS ${SOURCE}/tests/contributing/${diff}.diff lines REGEX "^--- a/")
  list(TRANSFORM lines REPLACE "^--- a/" "")
  if(NOT lines STREQUAL "${ARGN}")
    message(FATAL_ERROR "${diff}.diff changes ${lines}, not ${ARGN}")
  endif()
  # hide the repository around it: otherwise git would skip files outside of the folder
  run(0 ${CMAKE_COMMAND} -E chdir ${tree} ${CMAKE_COMMAND} -E env GIT_CEILING_DIRECTORIES=${SCRATCH}
        ${GIT} apply ${SOURCE}/tests/contributing/${diff}.diff)
endfunction()
expect_changes(strategy experiments/transpose/rows.cpp kernels/transpose/transpose.hpp)
expect_changes(experiment experiments/experiments.cpp)
expect_changes(claim experiments/sources.toml experiments/transpose/claims.toml)
expect_changes(chart experiments/sources.toml reports/recheck_report/claims/documents.py)

set(objects transpose/rows.cpp scale/rows.cpp experiments.cpp)
list(TRANSFORM objects PREPEND experiments/CMakeFiles/recheck_experiments.dir/)
set(cuda -D CMAKE_CUDA_COMPILER=OFF)
if(NVCC)
  list(GET ARCHITECTURES -1 architecture)
  set(cuda -D CMAKE_CUDA_COMPILER=${NVCC} -D CMAKE_CUDA_ARCHITECTURES=${architecture})
  set(kernels transpose/gather.cu scale/doubled.cu)
  list(TRANSFORM kernels PREPEND kernels/CMakeFiles/recheck_kernels.dir/)
  list(APPEND objects ${kernels})
endif()
list(TRANSFORM objects APPEND .o)
if(PYTHON)
  list(APPEND cuda -D Python3_EXECUTABLE=${PYTHON})
endif()
# reuse the build's knowledge of the compilers, and the packages that it has downloaded
file(COPY ${BUILD}/CMakeFiles/${CMAKE_VERSION} DESTINATION ${SCRATCH}/build/CMakeFiles)
set(ENV{CMAKE_PREFIX_PATH} ${BUILD}/distribution/usr)
run(0 ${CMAKE_COMMAND} -G Ninja -S ${tree} -B ${SCRATCH}/build -D CMAKE_BUILD_TYPE=Release
      -D CMAKE_CXX_FLAGS_RELEASE=-O0 ${cuda})
run(0 ${CMAKE_COMMAND} --build ${SCRATCH}/build --target ${objects})

# linked into the build's own program instead of its objects, they prove themselves, also on a GPU
run(0 ${CMAKE_COMMAND} --build ${BUILD} -- -t commands recheck)
if(NOT said MATCHES "\n([^\n]* -o experiments/recheck [^\n]*)\n$")
  message(FATAL_ERROR "no command that links recheck in\n${said}")
endif()
set(link "${CMAKE_MATCH_1}")
list(TRANSFORM objects PREPEND ${SCRATCH}/build/)
list(JOIN objects " " objects)
string(REPLACE " -o experiments/recheck " " ${objects} -o ${SCRATCH}/recheck " link "${link}")
run(0 ${CMAKE_COMMAND} -E chdir ${BUILD} sh -c "${link}")
run("0;77" ${SCRATCH}/recheck --gate --experiment=scale)
expect("${said}" "scale/cpu_serial: passed 10 times")
set(rows "${said}")
run("0;77" ${SCRATCH}/recheck --gate --experiment=transpose --strategy=gather)
string(APPEND rows "${said}")
if(NOT rows MATCHES "scale/doubled: not run: (no CUDA|built without|the NVIDIA driver|the CUDA device cannot)")
  expect("${rows}" "scale/doubled: passed 10 times")
  expect("${rows}" "transpose/gather: passed ")
endif()

if(PYTHON)
  run(0 ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${tree}/reports ${PYTHON}
        -m recheck_report render ${tree}/reports/results/nvidia-h200 --experiments ${tree}/experiments
        --output ${SCRATCH}/report)
  file(READ ${SCRATCH}/report/claims.md report)
  expect("${report}" "**E1 holds: Without padding, half of a copy.**")
  file(READ ${SCRATCH}/report/transpose.md report)
  expect("${report}" "(charts/transpose_clocks.svg)")
endif()
