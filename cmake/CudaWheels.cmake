# SPDX-License-Identifier: Apache-2.0
#
# Installs the CUDA Toolkit as pinned Python packages in the build folder, for machines with a driver but no
# nvcc. Takes `driver`, the CUDA version that the driver supports, and `gpus`. Sets nvcc, or the reason for failing
# in no_wheels.
set(folder ${CMAKE_BINARY_DIR}/cuda)
set(pin "cuda-toolkit[nvcc,cudart,crt,nvvm,cccl,cublas,nvtx,profiler,sanitizer]==13.0.3.0")  # pins its parts

if(EXISTS ${folder}/python/ready)
elseif(gpus AND NOT gpus MATCHES "7[5-9]|[89][0-9]|[0-9][0-9][0-9]")
  list(TRANSFORM gpus REPLACE "(.)$" ".\\1" OUTPUT_VARIABLE here)
  list(JOIN here " and " here)
  set(no_wheels ", and CUDA 13.0, which would be fetched, has no code for a GPU of compute capability ${here}")
  set(what_to_install "${for_old_gpus}")
elseif(driver MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS 13)
  set(no_wheels ", and the driver supports CUDA ${driver}, too old for the packages of 13.0")
else()
  message(STATUS "No CUDA Toolkit, but a driver (CUDA ${driver}): fetching CUDA Toolkit 13.0 into ${folder} "
                 "(0.6 GB to download, 1.1 GB on disk; half a minute at 30 MB/s)")
  # removes what an interrupted attempt left; nothing is written outside this folder
  file(REMOVE_RECURSE ${folder})
  file(WRITE ${folder}/downloads/pin.txt "${pin}\n")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env TMPDIR=${folder}/downloads PIP_NO_CACHE_DIR=1
            ${CMAKE_COMMAND} -D PYTHON=${Python3_EXECUTABLE} -D FOLDER=${folder}/python
            -D REQUIREMENTS=${folder}/downloads/pin.txt -D "CHECK=import nvidia.cu13"
            -P ${CMAKE_CURRENT_LIST_DIR}/packages.cmake
    RESULT_VARIABLE failed ERROR_VARIABLE said OUTPUT_QUIET)
  if(failed)
    file(REMOVE_RECURSE ${folder})
    string(REGEX MATCH "\\(ERROR[^\n]*" said "${said}")
    set(no_wheels ", and its packages cannot be fetched ${said}")
  endif()
endif()
if(no_wheels)
  return()
endif()

file(GLOB root ${folder}/python/lib/python*/site-packages/nvidia/cu13)
# without these names CMake and nvcc would find the libraries of another toolkit
file(CREATE_LINK lib ${root}/lib64 SYMBOLIC)
foreach(library cudart cublas cublasLt)
  file(CREATE_LINK lib${library}.so.13 ${root}/lib/lib${library}.so SYMBOLIC)
endforeach()
set(nvcc ${root}/bin/nvcc)
