# SPDX-License-Identifier: Apache-2.0
#
# The CUDA Toolkit, looked at before anything is built with it, and the architectures to build for.
# Leaves in recheck_problem what has to be done first, if anything.
option(RECHECK_ALL_ARCHITECTURES "Build machine code for every architecture from Turing on" OFF)
set(oldest 12.4)

if(CMAKE_CUDA_COMPILER STREQUAL "OFF")
  message(STATUS "CUDA is switched off: only the CPU rows are built, the GPU rows will say so")
  return()
endif()

# where CMake looks for nvcc, and then where NVIDIA's installer puts it
set(nvcc "${CMAKE_CUDA_COMPILER}")
if(NOT DEFINED CMAKE_CUDA_COMPILER)
  if(DEFINED ENV{CUDACXX})
    separate_arguments(nvcc UNIX_COMMAND "$ENV{CUDACXX}")
    list(GET nvcc 0 nvcc)
  else()
    find_program(RECHECK_NVCC nvcc PATHS ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin NO_CACHE)
    if(RECHECK_NVCC)
      set(nvcc ${RECHECK_NVCC})
      set(ENV{CUDACXX} ${nvcc})
    endif()
  endif()
endif()

# the CUDA version that the driver supports: as nvidia-smi says, or the driver itself; empty without one
set(driver "")
execute_process(COMMAND nvidia-smi OUTPUT_VARIABLE about RESULT_VARIABLE no_driver ERROR_QUIET TIMEOUT 15)
find_package(Python3 3.11 COMPONENTS Interpreter QUIET)
if(NOT no_driver EQUAL 0 AND Python3_FOUND)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import ctypes
cuda, version = ctypes.CDLL('libcuda.so.1'), ctypes.c_int()
assert cuda.cuInit(0) == 0 and cuda.cuDriverGetVersion(ctypes.byref(version)) == 0
print(f'CUDA Version: {version.value // 1000}.{version.value % 1000 // 10}')"
    OUTPUT_VARIABLE about RESULT_VARIABLE no_driver ERROR_QUIET TIMEOUT 15)
endif()
if(about MATCHES "CUDA [A-Za-z ]*Version *: *([0-9]+\\.[0-9]+)")
  set(driver ${CMAKE_MATCH_1})
elseif(no_driver EQUAL 0)
  set(driver unknown)
endif()
if(driver AND NOT nvcc)
  include(${CMAKE_CURRENT_LIST_DIR}/CudaWheels.cmake)
endif()
if(NOT nvcc)
  message(WARNING " No CUDA Toolkit found${no_wheels}: only the CPU rows are built, the GPU rows will say \
so. Install the CUDA Toolkit, or set CUDACXX to its nvcc, and configure again.")
  return()
endif()
execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE about ERROR_QUIET)
if(about MATCHES "release (([0-9]+)\\.[0-9]+)")
  set(toolkit ${CMAKE_MATCH_1})
  set(toolkit_major ${CMAKE_MATCH_2})
endif()
if(toolkit AND toolkit VERSION_LESS oldest)
  set(recheck_problem "CUDA Toolkit ${toolkit} is too old: Recheck needs ${oldest} or newer; set \
CUDACXX to a newer nvcc, or -DCMAKE_CUDA_COMPILER=OFF for the CPU rows alone")
  return()
endif()

include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  unset(CMAKE_CUDA_COMPILER CACHE)  # to be looked for again when CMake configures again
  # whoever has nvcc wants the GPU rows; its own words say best what is wrong
  set(try "${CMAKE_BINARY_DIR}/CMakeFiles/nvcc")
  file(WRITE "${try}.cu" "#include <cuda_runtime.h>\n__global__ void kernel() {}\n")
  separate_arguments(flags UNIX_COMMAND "$ENV{CUDAFLAGS} ${CMAKE_CUDA_FLAGS}")
  if(CMAKE_CUDA_HOST_COMPILER)
    list(APPEND flags -ccbin "${CMAKE_CUDA_HOST_COMPILER}")
  elseif(NOT "$ENV{CUDAHOSTCXX}" STREQUAL "")
    list(APPEND flags -ccbin "$ENV{CUDAHOSTCXX}")
  endif()
  execute_process(COMMAND ${nvcc} ${flags} -c "${try}.cu" -o "${try}.o"
                  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE why)
  if(why EQUAL 0)
    set(why "see CMakeFiles/CMakeError.log or CMakeConfigureLog.yaml in ${CMAKE_BINARY_DIR}")
  elseif("\n${said}" MATCHES "\n([^\n]*([Ee]rror|fatal|not found|[Nn]o such)[^\n]*)")
    set(why "${CMAKE_MATCH_1}")
  elseif(why MATCHES "^[0-9]+$")
    set(why "exit code ${why}")
  endif()
  set(recheck_problem "${nvcc} does not work: ${why}. If that is the host compiler, set CUDAHOSTCXX to one \
that this toolkit supports (CUDAFLAGS=-allow-unsupported-compiler tries this one, at your own risk); or \
configure with -DCMAKE_CUDA_COMPILER=OFF for the CPU rows alone")
  return()
endif()

# a driver runs what toolkits of its own major version build, and of earlier ones
if(driver STREQUAL "unknown")
  message(STATUS "nvidia-smi does not say which CUDA the driver supports: whether it is new enough for \
CUDA ${toolkit} is not known")
elseif(toolkit AND driver MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS toolkit_major)
  message(WARNING " The NVIDIA driver supports CUDA ${driver}, older than the toolkit's ${toolkit}: update \
the driver or build with an older CUDA Toolkit, or the GPU rows will not run.")
endif()

if(NOT CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE about RESULT_VARIABLE no_driver ERROR_QUIET TIMEOUT 15)
  # of all GPUs: which of them is measured is chosen when it is
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" here "${about}")
  list(TRANSFORM here REPLACE "\\." "")
  list(REMOVE_DUPLICATES here)
  list(SORT here COMPARE NATURAL)
  set(own "")
  foreach(number IN LISTS here)
    if(known MATCHES "compute_${number}\n")
      list(APPEND own ${number}-real)
    endif()
  endforeach()
  list(LENGTH here gpus)
  list(LENGTH own built_for)
  if(no_driver EQUAL 0 AND NOT here)
    message(STATUS "nvidia-smi does not say which architectures the GPUs here have")
  endif()
  if(RECHECK_ALL_ARCHITECTURES)
    # what is sold from Turing on, and PTX for the rest
    set(CMAKE_CUDA_ARCHITECTURES 75 80-real 86-real 89-real 90-real 100-real 120)
  elseif(own AND built_for EQUAL gpus)
    set(CMAKE_CUDA_ARCHITECTURES ${own})
  elseif(own)
    # one of them is newer than this nvcc: the driver compiles for it
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual ${own})
  else()
    # no GPU to ask: Hopper's own features are in machine code alone; for the rest the oldest PTX,
    # on which rows that need a later one's instructions say so
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
  endif()
  # as far as this nvcc knows them: 100 and 120 came with 12.8. The newest keeps its PTX
  set(newest "")
  foreach(arch ${CMAKE_CUDA_ARCHITECTURES})
    string(REGEX MATCH "^[0-9]+" number ${arch})
    if(known AND NOT known MATCHES "compute_${number}\n")
      list(REMOVE_ITEM CMAKE_CUDA_ARCHITECTURES ${arch})
    else()
      set(newest ${number})
    endif()
  endforeach()
  if(RECHECK_ALL_ARCHITECTURES AND NOT newest IN_LIST CMAKE_CUDA_ARCHITECTURES)
    list(APPEND CMAKE_CUDA_ARCHITECTURES ${newest}-virtual)
  endif()
  # Hopper is built for with its own features, wgmma among them
  list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^90-real$" 90a-real)
endif()

# A library of another toolkit would be measured without a word: warns where there is one. By versions:
# a distribution has its one toolkit in several folders, and an nvcc that calls another.
function(recheck_one_toolkit)
  foreach(library cublas cudart_static)
    get_filename_component(from "${CUDA_${library}_LIBRARY}" REALPATH)
    string(REGEX REPLACE "(/targets/[^/]+)?/lib(64)?(/[^/]+-linux-gnu)?/[^/]+$" "/bin/nvcc" other "${from}")
    execute_process(COMMAND ${other} --version OUTPUT_VARIABLE about ERROR_QUIET RESULT_VARIABLE ignored)
    if(about MATCHES "release ([0-9.]+)" AND NOT CMAKE_MATCH_1 STREQUAL toolkit)
      message(WARNING " Two CUDA Toolkits: the compiler is ${CMAKE_CUDA_COMPILER} (${toolkit}), and ${library} \
is ${from} (${CMAKE_MATCH_1}). Set CUDAToolkit_ROOT to the one you mean, and configure a new build folder.")
    endif()
  endforeach()
endfunction()
