# SPDX-License-Identifier: Apache-2.0
# cmake -D CASE=article|new|subdirectory -D BUILD=FOLDER -D SOURCE=FOLDER -D SCRATCH=FOLDER
#       -D CXX=PROGRAM -D NVCC=PROGRAM -D ARCHITECTURES=LIST -D PYTHON=PROGRAM -P outside_test.cmake
#
# Recheck in projects of others. An article: builds tests/outside against an installed Recheck, proves its rows,
# measures and renders. One that new.cmake writes does the same by its own presets. A subdirectory: looks at
# what Recheck leaves in a project that adds its sources.
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
  run("0;77" ${outside}/histogram --gate)
  expect("${said}" "histogram/cpu_serial: passed 14 times")
  run("0;77" ${outside}/stencil --gate)
  foreach(row fp32/cpu_x fp32/cpu_y fp16/cpu_x fp16/cpu_y)
    expect("${said}" "stencil_${row}: passed 14 times")
  endforeach()
  # a launcher of another signature: one line that says so
  file(WRITE ${SCRATCH}/signature.cpp "#include <recheck.hpp>
int make(const recheck::Call&);
void f(int, int);
recheck::Launcher launcher = recheck::gpu_launcher<f, make>();\n")
  run(1 ${CXX} -std=c++20 -fsyntax-only -I${SOURCE}/experiments ${SCRATCH}/signature.cpp)
  expect("${said}" "f has to take what make returns, and a cudaStream_t")
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
    if(NOT "${report}" MATCHES "nothing was measured on a GPU")
      expect("${report}" "of 10 claims hold")
    endif()
    expect("${report}" "Optimizing Parallel Reduction in CUDA")
    file(READ ${outside}/reduction_report/method.md report)
    if(EXISTS ${SOURCE}/.git)
      expect("${report}" "| Recheck | version 0.1.0, commit ")
    endif()
  endif()

elseif(CASE STREQUAL new)
  # as its user has it, but for where Recheck is and how little is optimised
  file(MAKE_DIRECTORY ${SCRATCH}/user)
  macro(new name folder codes)
    run("${codes}" ${CMAKE_COMMAND} -E chdir ${folder} ${CMAKE_COMMAND} -D NAME=${name} -P ${SOURCE}/new.cmake)
  endmacro()
  foreach(bad ";Which name" "my article;is no name" "My;is no name" "machine;take another" "test;take another"
          "a/b;is no name" "${SCRATCH};is no name")
    list(GET bad 0 name)
    list(GET bad 1 why)
    new("${name}" ${SCRATCH}/user 1)
    expect("${said}" "${why}")
  endforeach()
  new(copied ${SOURCE} 1)
  expect("${said}" "Recheck's own folder")
  new(copied ${SCRATCH}/user 0)
  new(copied ${SCRATCH}/user 1)
  expect("${said}" "exists: take another")
  set(new ${SCRATCH}/user/copied)
  file(GLOB use ${SCRATCH}/prefix/lib*/cmake/recheck/use.cmake ${SCRATCH}/prefix/lib/*/cmake/recheck/use.cmake)
  file(COPY ${BUILD}/CMakeFiles/${CMAKE_VERSION} DESTINATION ${new}/build/CMakeFiles)
  macro(inside)
    run("0" ${CMAKE_COMMAND} -E chdir ${new} ${ARGN})
  endmacro()
  inside(${CMAKE_COMMAND} --preset release ${options} -D RECHECK=${use})
  inside(${CMAKE_COMMAND} --workflow --preset test)
  expect("${said}" "copied/serial: passed 12 times")
  if(PYTHON)
    set(ENV{CUDA_VISIBLE_DEVICES} -1)  # a GPU takes minutes, and "" would leave it as it is
    inside(${CMAKE_COMMAND} --workflow --preset report)
    file(READ ${new}/build/copied_report/README.md report)
    foreach(text "${report}" "${said}")
      expect("${text}" "CUDA Pro Tip: Increase Performance with Vectorized Memory Access, rechecked on")
      expect("${text}" "nothing was measured on a GPU")
      if("${text}" MATCHES "claims? holds?|fails|not measured: [0-9]")
        message(FATAL_ERROR "counts of verdicts without a GPU\n${text}")
      endif()
    endforeach()
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
