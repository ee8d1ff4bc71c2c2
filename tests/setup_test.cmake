# SPDX-License-Identifier: Apache-2.0
# cmake -D CASE=NAME -D SOURCE=FOLDER -D SCRATCH=FOLDER -P setup_test.cmake
#
# What a newcomer sees if something is missing or odd: configuring ends early and gives the remedy in one line.
# Scripts replace apt and nvcc, and a library replaces the driver. Small projects replace this one
# where configuring all of it would prove no more.
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/skip.cmake)
file(REMOVE_RECURSE ${SCRATCH})
set(environment --unset=CUDACXX --unset=CUDA_PATH --unset=CUDA_HOME --unset=CUDAARCHS "PATH=${SCRATCH}/bin:$ENV{PATH}")
set(configure ${CMAKE_COMMAND} -G Ninja -S ${SCRATCH}/stand_in -B ${SCRATCH}/build)
set(limit 60)

function(program name text)
  file(WRITE ${SCRATCH}/${name} "#!/bin/sh\n${text}\n")
  file(CHMOD ${SCRATCH}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# Writes a project of this text, without a compiler, for ${configure}.
function(stand_in text)
  file(WRITE ${SCRATCH}/stand_in/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(stand_in LANGUAGES NONE)\n${text}
if(recheck_problem)\n  message(FATAL_ERROR \" \${recheck_problem}\")\nendif()\n")
endfunction()

# Runs a command for at most `limit` seconds. It must pass, fail or do either; write LINES lines (or `any`) to standard
# error, not counting CMake's frames; and write all WORDS, a list, to either stream.
set(passes 0)
set(fails [1-9])
set(either [0-9])
function(try how lines words)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${environment} ${ARGN} TIMEOUT ${limit}
                  OUTPUT_VARIABLE text ERROR_VARIABLE said RESULT_VARIABLE code)
  string(APPEND text "${said}")
  string(REPLACE ";" "," said "${said}")
  string(REPLACE "\n" ";" said "${said}")
  list(FILTER said EXCLUDE REGEX "^ *$|^CMake (Error|Warning) at |^Call Stack|^  [^ ]+:[0-9]+ \\(|^g?make: ")
  list(LENGTH said number)
  set(missing "")
  foreach(each IN LISTS words)
    string(FIND "${text}" "${each}" at)
    if(at EQUAL -1)
      string(APPEND missing " '${each}' is not said.")
    endif()
  endforeach()
  if(missing OR NOT code MATCHES "^${${how}}" OR NOT "${lines}" MATCHES "any|^${number}$")
    message(FATAL_ERROR "${CASE}: exit code ${code}, ${number} lines.${missing} ${ARGN}\n${text}")
  endif()
endfunction()

# Configures on a made-up machine. nvcc: new, old or no_nvcc; driver: cuInit's code and the compute capabilities of
# the GPUs, or empty without libcuda. ARGN: variables, among them VERSION, of the driver; SAME=1 uses the last machine's
# build folder.
set(new "13.0 75 80 86 89 90 100 110 103 120")
set(old "12.4 50 70 75 80 86 89 90")
set(nvcc_path ${SCRATCH}/cuda/bin/nvcc)
function(machine nvcc driver lines words)
  set(options -U CMAKE_CUDA_* -U RECHECK_CUDAARCHS)
  if("SAME=1" IN_LIST ARGN)
    set(options "")
  endif()
  if(DEFINED ${nvcc})
    list(APPEND options -D CMAKE_CUDA_COMPILER=${nvcc_path})
  endif()
  string(REGEX REPLACE "..*" "driver" library "${driver}")
  try(either ${lines} "${words}" LD_LIBRARY_PATH=${SCRATCH}/${library} "DRIVER=${driver}" "NVCC=${${nvcc}}" ${ARGN}
      ${configure} ${options})
endfunction()
program(cuda/bin/nvcc [[asked=$1
set -- $NVCC
case $asked in
--version) echo "Cuda compilation tools, release $1, V$1.1";;
--list-gpu-arch) shift; printf 'compute_%s\n' "$@";;
*) echo "$NVCC_SAYS" >&2; exit 1;;
esac]])
file(WRITE ${SCRATCH}/libcuda.so.1 "")  # without a driver, the machine's own is not found
file(WRITE ${SCRATCH}/driver/cuda.c [[
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int cuInit(unsigned f) { int e = atoi(getenv("DRIVER")); return e == 1000 ? sleep(99) : e; }
int cuGetErrorString(int e, const char** s) { return *s = "it is made up", 0; }
int cuDriverGetVersion(int* v) { return *v = getenv("VERSION") ? atoi(getenv("VERSION")) : 13010, 0; }
int cuDeviceGetCount(int* n) { return *n = getenv("CUDA_VISIBLE_DEVICES") ? 0 : strlen(getenv("DRIVER")) / 4, 0; }
int cuDeviceGetAttribute(int* v, int a, int d) {
  const int gpu = atoi(getenv("DRIVER") + 2 + 4 * d);
  return *v = a == 75 ? gpu / 10 : gpu % 10, 0;
}
]])
try(passes 0 "" c++ -shared -fPIC -x c ${SCRATCH}/driver/cuda.c -o ${SCRATCH}/driver/libcuda.so.1)
set(toolkit "include(${SOURCE}/cmake/Toolkit.cmake)
list(JOIN CMAKE_CUDA_ARCHITECTURES \" \" list)
message(STATUS \"for \${list}.\")")
set(no_toolkit "set(RECHECK_NVCC OFF)\n${toolkit}")
set(generic "for 75-virtual 90a-real.")

if(CASE STREQUAL dependencies)
  # Fake 1.2: installed; in two of the distribution's packages, of which one has a link to the other; in an archive
  set(at lib/cmake/fake/fake-config)
  file(WRITE ${SCRATCH}/prefix/${at}.cmake "add_library(fake::fake INTERFACE IMPORTED)\n")
  file(WRITE ${SCRATCH}/prefix/${at}-version.cmake "set(PACKAGE_VERSION 1.2)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
  foreach(package libfake1 libfake-dev)
    file(COPY ${SCRATCH}/prefix/lib DESTINATION ${SCRATCH}/${package}/usr)
  endforeach()
  file(RENAME ${SCRATCH}/libfake1/usr/${at}.cmake ${SCRATCH}/libfake1/usr/${at}1)
  file(CREATE_LINK fake-config1 ${SCRATCH}/libfake-dev/usr/${at}.cmake SYMBOLIC)
  program(bin/apt-get "touch $(dirname $2)/lists/a_InRelease")
  program(bin/apt-cache "printf 'Package: x\\nVersion: 1.2-3\\nDepends: libc6 (>= 2), libfake1 (= 1.2-3), a (= 1)\\n'")
  program(bin/dpkg-deb "tar xf $2 -C $3")
  file(WRITE ${SCRATCH}/fake/CMakeLists.txt "add_library(fake::fake INTERFACE IMPORTED GLOBAL)\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -E tar c v1.2.0.tar fake WORKING_DIRECTORY ${SCRATCH})
  file(SHA256 ${SCRATCH}/v1.2.0.tar hash)
  set(url file://${SCRATCH}/v1.2.0.tar)
  function(need version hash how lines words)
    stand_in("include(${SOURCE}/cmake/Dependencies.cmake)
set(pin_fake Fake ${version} libfake-dev ${url} ${hash})
recheck_dependency(fake)\nif(recheck_problem)
  recheck_dependency(fake)\nelseif(NOT TARGET fake::fake)\n  message(FATAL_ERROR \"no target\")\nendif()")
    try(${how} ${lines} "${words}" ${configure} -U fake_DIR ${ARGN})
  endfunction()
  need(1.1 0 passes any "Fake 1.2: as installed" -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix)
  need(1.1 0 fails 1 "Fake 1.1 (libfake-dev, FETCHCONTENT_SOURCE_DIR_FAKE), Fake 1.1 (;distribution: not one with apt"
       -U CMAKE_PREFIX_PATH -D RECHECK_APT_GET=OFF)
  need(1.3 0 fails 1 "distribution: too old" -U RECHECK_APT_GET)
  program(bin/apt-get "touch $(dirname $2)/lists/a_InRelease
test $3 != download || for i in $4 $5; do tar cf $i.deb -C ${SCRATCH}/$i usr || exit; done")
  need(1.2 0 passes any "Fake 1.2: from the distribution's package")
  program(bin/apt-get "rm -r ${SCRATCH}/build/distribution")  # it is not called again
  need(1.2 0 passes any "Fake 1.2: from the distribution's package")
  file(REMOVE_RECURSE ${SCRATCH}/build/distribution)
  need(1.1 0 fails 1 "v1.2.0.tar has another SHA-256;distribution: not one with apt" -D RECHECK_APT_GET=OFF)
  need(1.1 0 passes any "Fake: from ${SCRATCH}/fake" -D FETCHCONTENT_SOURCE_DIR_FAKE=${SCRATCH}/fake)
  need(1.1 ${hash} passes any "Fake 1.2.0: from the pinned archive" -U FETCHCONTENT_SOURCE_DIR_FAKE)
  file(REMOVE ${SCRATCH}/v1.2.0.tar)
  need(1.1 ${hash} passes any "Fake 1.2.0: from the pinned archive")
  # a distribution and a server that accept connections and never answer
  program(bin/apt-get "exec sleep 99")
  execute_process(COMMAND sh -c "python3 -c '\
import socket, time
with socket.create_server((\"127.0.0.1\", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    time.sleep(60)' >${SCRATCH}/port 2>&1 & until test -s ${SCRATCH}/port; do sleep 0.1; done")
  file(STRINGS ${SCRATCH}/port port REGEX "^[0-9]+$")
  if(NOT port)
    skip("Python was not found")
  endif()
  set(url http://127.0.0.1:${port}/another.tar)
  file(REMOVE_RECURSE ${SCRATCH}/build)
  need(1.1 0 fails 1 "distribution: no answer;archives: Timeout was reached")

elseif(CASE STREQUAL architectures)
  # the build is for the right architectures, or one line gives the reason
  stand_in("${toolkit}")
  machine(new "0 090" 0 "for 90a-real." PYTHONHOME=/nowhere PYTHONHASHSEED=abc PYTHONPLATLIBDIR=x)
  machine(new "0 090 086 090" 0 "for 86-real 90a-real." CUDA_VISIBLE_DEVICES=)
  machine(new "0 130 086" 0 "for 86-real 120-virtual.")
  machine(new "0 070 090" 1 "no code for a GPU of compute capability 7.0;Install CUDA 12.4 to 12.9;for 90a-real.")
  machine(new "" 0 "libcuda.so.1 was not found;${generic}")
  machine(new 100 0 "libcuda.so.1: it is made up (100);${generic}")
  machine(new 803 1 "driver does not work;(803); reboot;${generic}")
  machine(new 34 1 "stubs out of LD_LIBRARY_PATH")
  machine(new 999 1 "driver does not work;(999); fix the driver until;${generic}")
  machine(new 1000 1 "The NVIDIA driver does not answer: reboot, or;-DCMAKE_CUDA_COMPILER=OFF")
  machine(new "0 090" 1 "driver supports CUDA 12.8, older than the toolkit's 13.0: update the" VERSION=12080)
  machine(new "0 090" 0 "for 90-real." CUDAARCHS=90-real)
  machine(new "0 090" 0 "for 90a-real." CUDAARCHS=90a-real SAME=1)
  machine(new "0 090" 0 "for 80." CUDAARCHS=80)
  machine(new "0 090" 1 "CUDA 13.0 has no architecture 'sm_80', which" CUDAARCHS=sm_80)
  machine(new "" 1 "The architecture native, which;needs a GPU;libcuda.so.1 was not found" CUDAARCHS=native)
  machine(new "" 0 "for 80." CUDAARCHS=80 SAME=1)
  stand_in("set(RECHECK_ALL_ARCHITECTURES ON)\n${toolkit}")
  machine(new "0 090" 0 "for 75 80-real 86-real 89-real 90a-real 100-real 120.")
  machine(old "0 090" 0 "for 75 80-real 86-real 89-real 90a-real 90-virtual.")

elseif(CASE STREQUAL compilers)
  stand_in("enable_language(CXX)\n${toolkit}")
  program(bin/clang++ "echo clang version 19")
  set(off ";-DCMAKE_CUDA_COMPILER=OFF")
  machine(no_nvcc "" 1 "is not NVIDIA's nvcc (;o such file or directory): unset CUDACXX${off}" CUDACXX=/nowhere/nvcc)
  machine(no_nvcc "" 1 "clang++ is not NVIDIA's nvcc (clang version 19)${off}" CUDACXX=clang++)
  machine(no_nvcc "" 1 "CUDA Toolkit 11.8 is too old: Recheck needs 12${off}" CUDACXX=${nvcc_path} NVCC=11.8)
  machine(no_nvcc "" 1 "does not work: exit code 1. ${off}" CUDACXX=${nvcc_path} NVCC=13.0)
  machine(no_nvcc "" 1 "does not work: #error: GNU!. If that" CUDACXX=${nvcc_path} NVCC=13.0 "NVCC_SAYS=#error: GNU!")
  stand_in("${no_toolkit}")
  machine(no_nvcc "" 1 "No CUDA Toolkit found: only the CPU rows" CUDACXX=)
  # a toolkit that cannot run here is not fetched
  list(APPEND environment PIP_INDEX_URL=http://127.0.0.1:9 PIP_FIND_LINKS= PIP_EXTRA_INDEX_URL=)
  set(only ";only the CPU rows are built")
  machine(no_nvcc 100 1 "No CUDA Toolkit found${only}")
  machine(no_nvcc 803 1 "NVIDIA driver does not work: it is made up (803); reboot${only};Then configure")
  machine(no_nvcc "0 090" 1 ", and the driver supports CUDA 12.8, too old for the packages of 13.0${only}" VERSION=12080)
  machine(no_nvcc "0 070" 1 "CUDA 13.0, which would be fetched, has no code for;7.0;Install CUDA 12.4 to 12.9")
  machine(no_nvcc "0 090" 1 "cannot be fetched (ERROR: ;(CUDA 13.1): fetching CUDA Toolkit 13.0${only}")

elseif(CASE STREQUAL one_toolkit)
  foreach(case "lib64 13.0" "elsewhere 12.9" "lib64 12.9" "lib/x86_64-linux-gnu 12.9" "targets/x86_64-linux/lib 12.9")
    string(REGEX MATCH "(.*) (.*)" both ${case})
    stand_in("${toolkit}\nset(CUDA_cublas_LIBRARY ${SCRATCH}/usr/${CMAKE_MATCH_1}/libcublas.so)\nrecheck_one_toolkit()")
    program(usr/bin/nvcc "echo release ${CMAKE_MATCH_2}, V")
    if(case MATCHES "13.0|elsewhere")
      machine(new "0 090" 0 "for 90a-real.")
    else()
      machine(new "0 090" 1 "Two CUDA Toolkits: the compiler is ${nvcc_path} (13.0);libcublas.so (12.9)")
    endif()
  endforeach()

elseif(CASE STREQUAL cuda_wheels)
  file(WRITE ${SCRATCH}/any.txt "cuda-toolkit\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -D PYTHON=python3 -D FOLDER=${SCRATCH}/python -D CHECK=pass
                          -D REQUIREMENTS=${SCRATCH}/any.txt -P ${SOURCE}/cmake/packages.cmake RESULT_VARIABLE failed)
  if(failed)
    skip("Python packages cannot be fetched")
  endif()
  stand_in("set(CMAKE_CUDA_STANDARD 20)\nenable_language(CXX)\n${no_toolkit}\nenable_language(CUDA)
add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
find_package(CUDAToolkit REQUIRED)\nrecheck_one_toolkit()
add_executable(try ${SOURCE}/kernels/machine/copy.cu try.cpp)
target_link_libraries(try CUDA::cudart_static CUDA::cublas)")
  file(WRITE ${SCRATCH}/stand_in/try.cpp "#include <cublas_v2.h>
int main() { int version; return cublasGetProperty(MAJOR_VERSION, &version) || version != 13; }\n")
  set(limit 600)
  machine(no_nvcc "0 090" 0 "fetching CUDA Toolkit 13.0;for 90a-real.")
  set(from "=> ${SCRATCH}/build/cuda/")
  try(passes any "libcublas.so.13 ${from};libcublasLt.so.13 ${from}" --unset=LD_LIBRARY_PATH
      sh -c "cd ${SCRATCH}/build && '${CMAKE_COMMAND}' --build . && ./try && ldd try")
  file(REMOVE_RECURSE ${SCRATCH}/build)  # 1.1 GB

elseif(CASE STREQUAL no_program)
  set(said "Python 3.11 or newer was not found: install it")
  stand_in("set(recheck_reports ${SOURCE}/reports)\ninclude(${SOURCE}/cmake/Python.cmake)
add_subdirectory(${SOURCE}/reports reports)")
  try(passes 1 "${said}" ${configure} -D CMAKE_DISABLE_FIND_PACKAGE_Python3=ON)
  try(fails any "${said}" ${CMAKE_COMMAND} --build ${SCRATCH}/build --target report)
  try(fails 1 "Ninja was not found: install ninja-build" PATH=${SCRATCH}/bin
      ${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${SCRATCH}/recheck -D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF)

elseif(CASE STREQUAL python_packages)
  execute_process(COMMAND python3 -c "import ensurepip" RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    skip("Python or its venv was not found")
  endif()
  # only the sources of packages apply from the settings of pip
  execute_process(COMMAND python3 -c "import zipfile
with zipfile.ZipFile('made_up-1-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('made_up.py', '')
    wheel.writestr('made_up-1.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: made-up\\nVersion: 1\\n')
    wheel.writestr('made_up-1.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('made_up-1.dist-info/RECORD', '')" WORKING_DIRECTORY ${SCRATCH} COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${SCRATCH}/made_up.txt "made-up==1\n")
  file(WRITE ${SCRATCH}/pip.conf "[global]\nno-index = true\nfind-links = ${SCRATCH}\n[install]\nno-deps = no\n\
prefix = ${SCRATCH}/prefix\nrequire-hashes = true\n")
  list(APPEND environment PIP_FIND_LINKS= PIP_INDEX_URL=http://127.0.0.1:9)
  macro(install how lines words check)
    try(${how} ${lines} "${words}" ${CMAKE_COMMAND} -D PYTHON=python3 -D FOLDER=${SCRATCH}/python
        -D "CHECK=${check}" -D REQUIREMENTS=${SCRATCH}/made_up.txt -P ${SOURCE}/cmake/packages.cmake)
  endmacro()
  install(fails 1 "packages cannot be fetched;see to the network" pass)
  list(APPEND environment PIP_NO_INDEX= PIP_CONFIG_FILE=${SCRATCH}/pip.conf PIP_TARGET=${SCRATCH}/target PIP_USER=1
       PIP_REQUIRE_VIRTUALENV=1 PIP_DRY_RUN=1 PIP_PYTHON=/nowhere PIP_CONSTRAINT=/nowhere PYTHONHOME=/nowhere
       PYTHONPATH=${SCRATCH})
  install(passes 0 "" "import made_up")
  # an installation whose import fails is not complete
  install(fails 1 "No module named 'another'" "import another" ${sources})
  try(fails 0 "" test -e ${SCRATCH}/python/ready)

else()
  message(FATAL_ERROR "unknown case '${CASE}'")
endif()
