# SPDX-License-Identifier: Apache-2.0
#
# Checks the CUDA Toolkit and the driver before anything is built, and chooses the architectures. Sets
# recheck_problem if the user has to fix something first, and recheck_cuda if nvcc works.
include_guard(GLOBAL)
option(RECHECK_ALL_ARCHITECTURES "Build machine code for every architecture from Turing on" OFF)
set(oldest 12.4)
set(without "configure with -DCMAKE_CUDA_COMPILER=OFF for the CPU rows alone")

if(CMAKE_CUDA_COMPILER STREQUAL "OFF")
  message(STATUS "CUDA is switched off: only the CPU rows are built; the GPU rows will report it")
  return()
endif()

# CMake's own places for nvcc, then those of NVIDIA's installer
set(words "")
set(nvcc "${CMAKE_CUDA_COMPILER}")
if(NOT nvcc)
  unset(CMAKE_CUDA_COMPILER CACHE)
  separate_arguments(words UNIX_COMMAND "$ENV{CUDACXX}")
  list(POP_FRONT words nvcc)
  if(NOT nvcc)
    find_program(RECHECK_NVCC nvcc PATHS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin NO_CACHE)
    set(nvcc "${RECHECK_NVCC}")
  endif()
endif()

# Asks the driver, for 15 seconds at most. Sets `driver`, the CUDA version that it supports, or empty without a
# usable driver; `gpus`, the compute capabilities of all GPUs, as in 86;90, or `no_gpu`, why they are unknown;
# and `broken`, why no GPU works. The user chooses one of the GPUs later, when measuring.
set(driver "")
set(gpus "")
set(broken "")
set(no_gpu "Python, which would ask libcuda.so.1, was not found")
include(${CMAKE_CURRENT_LIST_DIR}/FindPython.cmake)
if(Python3_FOUND)
  execute_process(COMMAND ${Python3_EXECUTABLE} -I -S -c [[
import ctypes, os
os.environ.pop("CUDA_VISIBLE_DEVICES", None)
cuda, number, text = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_char_p(b"error")
here = ctypes.byref(number)
def ask(name, *arguments):
    if status := getattr(cuda, name)(*arguments):
        cuda.cuGetErrorString(status, ctypes.byref(text))
        raise SystemExit(print(f"error={text.value.decode()} ({status})"))
    return number.value
ask("cuInit", 0)
version = ask("cuDriverGetVersion", here)
gpus = {10 * ask("cuDeviceGetAttribute", here, 75, gpu) + ask("cuDeviceGetAttribute", here, 76, gpu)
        for gpu in range(ask("cuDeviceGetCount", here))}
print(f"version={version // 1000}.{version % 1000 // 10}", *sorted(gpus), sep=";")
]] OUTPUT_VARIABLE about RESULT_VARIABLE failed ERROR_QUIET TIMEOUT 15)
  set(no_gpu "libcuda.so.1 was not found")
  if(about MATCHES "version=([0-9.]+);?([0-9;]*)")
    set(driver ${CMAKE_MATCH_1})
    set(gpus "${CMAKE_MATCH_2}")
  elseif(about MATCHES "error=([^\n]+)")
    set(broken "${CMAKE_MATCH_1}")
    set(no_gpu "libcuda.so.1: ${broken}")
  elseif(failed MATCHES "timeout")
    set(broken "it does not answer")
  endif()
endif()
if(broken MATCHES "\\(100\\)$")
  set(broken "")  # a machine without a GPU works
elseif(broken MATCHES "\\(803\\)")
  string(APPEND broken "; reboot, or load the kernel module of the library's version")
elseif(broken MATCHES "\\(34\\)")
  string(APPEND broken "; take the folder of the toolkit's stubs out of LD_LIBRARY_PATH")
elseif(broken MATCHES "\\(802\\)")
  string(APPEND broken "; start the service nvidia-fabricmanager, or wait until it is up")
elseif(broken)
  string(APPEND broken "; fix the driver until nvidia-smi lists the GPU. If it does, check /dev/nvidia* and the \
container's settings")
endif()

# CUDA 13 supports 7.5 and later, the toolkits before all GPUs that their drivers do
set(for_old_gpus "CUDA ${oldest} to 12.9")

set(what_to_install "the CUDA Toolkit")
if(nvcc AND broken MATCHES "^it does not answer")
  # CMake's test of nvcc also calls the driver, and would hang
  set(recheck_problem "The NVIDIA driver does not answer: reboot, or ${without}")
  return()
endif()
if(NOT nvcc AND broken)
  set(no_wheels ", and the NVIDIA driver does not work: ${broken}")
elseif(NOT nvcc AND driver)
  include(${CMAKE_CURRENT_LIST_DIR}/CudaWheels.cmake)
endif()
if(NOT nvcc)
  set(then "Install ${what_to_install}, or set CUDACXX to its nvcc, and configure again.")
  if(broken)
    set(then "Then configure again.")
  endif()
  message(WARNING " No CUDA Toolkit found${no_wheels}: only the CPU rows are built; the GPU rows will report it. ${then}")
  return()
endif()

execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE about RESULT_VARIABLE why ERROR_QUIET)
if(NOT about MATCHES "release (([0-9]+)\\.[0-9]+)")
  if(about MATCHES "^[ \n]*([^\n]+)")
    set(why "${CMAKE_MATCH_1}")
  endif()
  set(recheck_problem "${nvcc} is not NVIDIA's nvcc (${why}): unset CUDACXX and CMAKE_CUDA_COMPILER, or set \
them to the nvcc of CUDA ${oldest} or newer; or ${without}")
  return()
endif()
set(toolkit ${CMAKE_MATCH_1})
set(toolkit_major ${CMAKE_MATCH_2})
if("$ENV{CUDACXX}" STREQUAL "")
  set(ENV{CUDACXX} ${nvcc})
endif()
if(toolkit VERSION_LESS oldest)
  set(recheck_problem "CUDA Toolkit ${toolkit} is too old: Recheck needs ${oldest} or newer; set \
CUDACXX to a newer nvcc, or ${without}")
  return()
endif()
execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
string(REGEX MATCHALL "[0-9]+" known "${known}")
list(SORT known COMPARE NATURAL)

# the user's architectures have priority, as in any CMake project; a changed CUDAARCHS takes effect
if(NOT "$ENV{CUDAARCHS}" STREQUAL "" AND (RECHECK_CUDAARCHS OR NOT CMAKE_CUDA_ARCHITECTURES))
  set(CMAKE_CUDA_ARCHITECTURES "$ENV{CUDAARCHS}" CACHE STRING "CUDA architectures" FORCE)
  set(RECHECK_CUDAARCHS "$ENV{CUDAARCHS}" CACHE INTERNAL "")
endif()
set(they_name "which CUDAARCHS or CMAKE_CUDA_ARCHITECTURES names")
foreach(arch IN LISTS CMAKE_CUDA_ARCHITECTURES)
  string(REGEX REPLACE "^([0-9]+)[af]?(-real|-virtual)?$" "\\1" number "${arch}")
  if(arch STREQUAL "native" AND NOT gpus)
    set(recheck_problem "The architecture native, ${they_name}, needs a GPU, and none is known here (${no_gpu}): name \
one, as in 80;90a-real")
  elseif(NOT number IN_LIST known AND NOT number MATCHES "^(native|all|all-major)$")
    list(JOIN known " " list)
    set(recheck_problem "CUDA ${toolkit} has no architecture '${arch}', ${they_name}: choose from ${list}, as in \
80;90a-real")
  endif()
endforeach()
if(recheck_problem)
  unset(CMAKE_CUDA_ARCHITECTURES CACHE)
  unset(RECHECK_CUDAARCHS CACHE)
  return()
endif()

# a user with nvcc wants the GPU rows; its own message explains best why it does not work
if(NOT CMAKE_CUDA_COMPILER)
  set(try "${CMAKE_BINARY_DIR}/CMakeFiles/nvcc")
  file(WRITE "${try}.cu" "#include <cuda_runtime.h>\n__global__ void kernel() {}\n")
  separate_arguments(flags UNIX_COMMAND "$ENV{CUDAFLAGS} ${CMAKE_CUDA_FLAGS}")
  if(CMAKE_CUDA_HOST_COMPILER)
    list(APPEND flags -ccbin "${CMAKE_CUDA_HOST_COMPILER}")
  elseif(NOT "$ENV{CUDAHOSTCXX}" STREQUAL "")
    list(APPEND flags -ccbin "$ENV{CUDAHOSTCXX}")
  endif()
  execute_process(COMMAND ${nvcc} ${words} ${flags} -c "${try}.cu" -o "${try}.o"
                  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE why)
  if(NOT why EQUAL 0)
    if("\n${said}" MATCHES "\n([^\n]*([Ee]rror|fatal|not found|[Nn]o such)[^\n]*)")
      set(why "${CMAKE_MATCH_1}")
    elseif(why MATCHES "^[0-9]+$")
      set(why "exit code ${why}")
    endif()
    set(recheck_problem "${nvcc} does not work: ${why}. If that is the host compiler, set CUDAHOSTCXX to one \
that this toolkit supports (CUDAFLAGS=-allow-unsupported-compiler tries this one, at your own risk); or \
configure with -DCMAKE_CUDA_COMPILER=OFF for the CPU rows alone")
    return()
  endif()
endif()
set(recheck_cuda ON)

# a driver runs code from toolkits of its own or an earlier major version
if(broken)
  message(WARNING " The NVIDIA driver does not work, and the GPU rows will not run: ${broken}.")
elseif(driver MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS toolkit_major)
  message(WARNING " The NVIDIA driver supports CUDA ${driver}, older than the toolkit's ${toolkit}: update \
the driver or build with an older CUDA Toolkit, or the GPU rows will not run.")
endif()

if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(too_old "")
  foreach(gpu IN LISTS gpus)
    # a GPU that is newer than nvcc gets the newest PTX, which the driver compiles
    set(newest "")
    foreach(number IN LISTS known)
      if(NOT number GREATER gpu)
        set(newest ${number})
      endif()
    endforeach()
    if(newest EQUAL gpu)
      list(APPEND CMAKE_CUDA_ARCHITECTURES ${gpu}-real)
    elseif(newest)
      list(APPEND CMAKE_CUDA_ARCHITECTURES ${newest}-virtual)
    else()
      list(APPEND too_old ${gpu})
    endif()
  endforeach()
  if(too_old)
    list(TRANSFORM too_old REPLACE "(.)$" ".\\1")
    list(JOIN too_old " and " too_old)
    message(WARNING " CUDA ${toolkit} has no code for a GPU of compute capability ${too_old}: its rows will not \
run. Install ${for_old_gpus}, set CUDACXX to its nvcc, and configure a new build folder.")
  endif()
  if(RECHECK_ALL_ARCHITECTURES)
    # products from Turing on, and PTX for the others; CUDA 12.8 added 100 and 120
    set(CMAKE_CUDA_ARCHITECTURES 75 80-real 86-real 89-real 90-real 90-virtual)
    if(120 IN_LIST known)
      set(CMAKE_CUDA_ARCHITECTURES 75 80-real 86-real 89-real 90-real 100-real 120)
    endif()
  elseif(NOT CMAKE_CUDA_ARCHITECTURES)
    # Hopper's own features exist only in machine code. All other GPUs get the oldest PTX; rows that need
    # newer instructions report it.
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
    if(NOT gpus)
      message(STATUS "The GPU is not known (${no_gpu}): code is made for compute capability 9.0, and PTX of \
7.5 for others. CUDAARCHS names another: CUDAARCHS=80")
    endif()
  endif()
  list(REMOVE_DUPLICATES CMAKE_CUDA_ARCHITECTURES)
  # code for Hopper uses its own features, such as wgmma
  list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^90-real$" 90a-real)
endif()

# Warns about libraries of another toolkit, which would be measured silently. Compares versions, because a
# distribution has its toolkit in several folders, and its nvcc may call another one.
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
