# SPDX-License-Identifier: Apache-2.0
#
# Made-up machines for setup_test.cmake: an nvcc, a driver and its tool.

# an nvcc that prints its version and its architectures, and compiles nothing
function(toolkit version)
  list(JOIN ARGN " " known)
  program(nvcc "case $1 in
--version) echo 'Cuda compilation tools, release ${version}, V${version}.1';;
--list-gpu-arch) printf 'compute_%s\\n' ${known};;
*) exit 1;;
esac")
endfunction()
set(stand_in_for_toolkit "include(${SOURCE}/cmake/Toolkit.cmake)
list(JOIN CMAKE_CUDA_ARCHITECTURES \" \" list)
message(STATUS \"for \${list}.\")")

# Configures on a made-up machine, and checks the lines and words. `nvcc`: version and architectures, or empty.
# `libcuda`: what cuInit returns and three digits for each GPU, or empty for no library. `smi`: CUDA version and
# compute capabilities that nvidia-smi prints, or a line of a script that fails.
macro(machine nvcc libcuda smi variables lines)
  string(REGEX REPLACE "^([0-9]+) ?(.*)" "MADE_UP_ERROR=\\1;MADE_UP_GPUS=\\2" made_up "${libcuda}")
  file(REMOVE ${SCRATCH}/lib/libcuda.so.1 ${SCRATCH}/bin/nvcc)
  if(made_up)
    file(COPY_FILE ${SCRATCH}/made_up.so ${SCRATCH}/lib/libcuda.so.1)
  else()
    file(WRITE ${SCRATCH}/lib/libcuda.so.1 "")  # the machine's own is not found
  endif()
  if("${smi}" MATCHES "^([0-9.]+) ?(.*)")
    program(nvidia-smi "case $1 in
--query-gpu=*) printf '%b\\n' ${CMAKE_MATCH_2};;
*) echo '| NVIDIA-SMI 1.2   Driver Version: 1.2   CUDA UMD Version: ${CMAKE_MATCH_1}     |';;
esac")
  else()
    program(nvidia-smi "${smi}\nexit 9")
  endif()
  set(options "")
  if(NOT "${nvcc}" STREQUAL "")
    toolkit(${nvcc})
    set(options -D CMAKE_CUDA_COMPILER=${SCRATCH}/bin/nvcc)
  endif()
  run(LD_LIBRARY_PATH=${SCRATCH}/lib ${made_up} ${variables}
      ${CMAKE_COMMAND} -U CMAKE_CUDA_* ${options} -G Ninja -S ${SCRATCH}/stand_in -B ${SCRATCH}/build)
  expect(any ${lines} ${ARGN})
endmacro()
macro(make_up_driver)
  file(WRITE ${SCRATCH}/cuda.c [[
#include <stdlib.h>
#include <string.h>
int cuInit(unsigned f) { return atoi(getenv("MADE_UP_ERROR")); }
int cuGetErrorString(int e, const char** s) { return *s = "it is made up", 0; }
int cuDriverGetVersion(int* v) { return *v = 13010, 0; }
int cuDeviceGetCount(int* n) { return *n = (strlen(getenv("MADE_UP_GPUS")) + 1) / 4, 0; }
int cuDeviceGetAttribute(int* v, int a, int d) {
  const int gpu = atoi(getenv("MADE_UP_GPUS") + 4 * d);
  return *v = a == 75 ? gpu / 10 : gpu % 10, 0;
}
]])
  run(c++ -shared -fPIC -x c ${SCRATCH}/cuda.c -o ${SCRATCH}/made_up.so)
  expect(passes 0)
endmacro()
