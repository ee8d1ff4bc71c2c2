# SPDX-License-Identifier: Apache-2.0
#
# The CUDA Toolkit, looked at before anything is built with it, and the architectures to build for.
# Leaves in recheck_problem what has to be done first, if anything.
option(RECHECK_ALL_ARCHITECTURES "Build machine code for every architecture from Turing on" OFF)
set(oldest 12.4)

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
if(nvcc)
  execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE about ERROR_QUIET)
  if(about MATCHES "release (([0-9]+)\\.[0-9]+)")
    set(toolkit ${CMAKE_MATCH_1})
    set(toolkit_major ${CMAKE_MATCH_2})
  endif()
endif()
if(toolkit AND toolkit VERSION_LESS oldest)
  set(recheck_problem "CUDA Toolkit ${toolkit} is too old: Recheck needs ${oldest} or newer; set \
CUDACXX to a newer nvcc, or -DCMAKE_CUDA_COMPILER=OFF for the CPU rows alone")
  return()
endif()

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER STREQUAL "OFF")
  message(STATUS "CUDA is switched off: only the CPU rows are built, the GPU rows will say so")
  return()
elseif(NOT CMAKE_CUDA_COMPILER)
  if(nvcc)
    # who has nvcc wants the GPU rows: its own words, and what to do
    set(probe ${CMAKE_BINARY_DIR}/CMakeFiles/nvcc_probe)
    file(WRITE ${probe}.cu "__global__ void kernel() {}\nint main() {}\n")
    set(host "")
    if(DEFINED ENV{CUDAHOSTCXX})
      set(host -ccbin $ENV{CUDAHOSTCXX})
    endif()
    execute_process(COMMAND ${nvcc} ${host} -o ${probe} ${probe}.cu OUTPUT_VARIABLE said ERROR_VARIABLE said)
    string(REGEX MATCH "[^\n]*(error|fatal|not found|No such)[^\n]*" said "${said}")
    string(STRIP "${said}" said)
    if(NOT said)
      set(said "it compiles nothing")
    endif()
    set(recheck_problem "${nvcc} does not work here: ${said}. Set CUDAHOSTCXX to a C++ compiler that this \
nvcc supports, or CUDACXX to another nvcc, and configure afresh; -DCMAKE_CUDA_COMPILER=OFF builds the CPU rows alone")
    return()
  endif()
  message(WARNING " No CUDA Toolkit found: only the CPU rows are built, the GPU rows will say so. If there is \
one, set CUDACXX to its nvcc and configure afresh.")
  return()
endif()

# a driver runs what toolkits of its own major version build, and of earlier ones
execute_process(COMMAND nvidia-smi OUTPUT_VARIABLE about RESULT_VARIABLE no_driver ERROR_QUIET TIMEOUT 15)
if(about MATCHES "CUDA [A-Za-z ]*Version: *(([0-9]+)\\.[0-9]+)")
  if(toolkit AND CMAKE_MATCH_2 LESS toolkit_major)
    message(WARNING " The NVIDIA driver supports CUDA ${CMAKE_MATCH_1}, older than the toolkit's \
${toolkit}: update the driver or build with an older CUDA Toolkit, or the GPU rows will not run.")
  endif()
elseif(no_driver EQUAL 0)
  message(STATUS "nvidia-smi does not say which CUDA the driver supports; the run will")
endif()

if(NOT CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE here ERROR_QUIET TIMEOUT 15)
  # of all GPUs: any of them may be chosen later
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" here "${here}")
  list(TRANSFORM here REPLACE "\\." "")
  list(REMOVE_DUPLICATES here)
  set(unknown FALSE)
  foreach(each ${here})
    if(NOT known MATCHES "compute_${each}\n")
      set(unknown TRUE)
    endif()
  endforeach()
  if(RECHECK_ALL_ARCHITECTURES)
    # what is sold from Turing on, and PTX for the rest
    set(CMAKE_CUDA_ARCHITECTURES 75 80-real 86-real 89-real 90-real 100-real 120)
  elseif(here AND NOT unknown)
    list(TRANSFORM here APPEND -real OUTPUT_VARIABLE CMAKE_CUDA_ARCHITECTURES)
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
