# SPDX-License-Identifier: Apache-2.0
# cmake -D CASE=NAME -D SOURCE=FOLDER -D SCRATCH=FOLDER -P setup_test.cmake
#
# What a newcomer sees if something is missing or odd: configuring ends early and gives the remedy in one line.
# Scripts replace apt, nvcc and nvidia-smi, and a library replaces the driver. Small projects replace this one
# where configuring all of it would prove no more.
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/skip.cmake)
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
unset(ENV{CUDAARCHS})
set(environment --unset=CUDACXX --unset=CUDA_PATH --unset=CUDA_HOME "PATH=${SCRATCH}/bin:$ENV{PATH}")
set(refusing http://127.0.0.1:9)

function(program name text)
  file(WRITE ${SCRATCH}/${name} "#!/bin/sh\n${text}\n")
  file(CHMOD ${SCRATCH}/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# A project of this text, without a compiler.
function(stand_in text)
  file(WRITE ${SCRATCH}/stand_in/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(stand_in LANGUAGES NONE)
${text}
if(recheck_problem)
  message(FATAL_ERROR \" \${recheck_problem}\")
endif()
")
endfunction()

# Runs a command. Sets `code` to its exit code, `text` to both its streams, and `said` to the lines on standard
# error without CMake's frames. Fails after `limit` seconds.
set(limit 60)
macro(run)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${environment} ${ARGN} TIMEOUT ${limit}
                  OUTPUT_VARIABLE text ERROR_VARIABLE said RESULT_VARIABLE code)
  string(APPEND text "${said}")
  string(REPLACE ";" "," said "${said}")
  string(REPLACE "\n" ";" said "${said}")
  list(FILTER said EXCLUDE REGEX
       "^ *$|^CMake (Error|Warning) at |^Call Stack|^  [^ ]+:[0-9]+ \\(|^make: |^gmake: ")
endmacro()
macro(configure)
  run(${CMAKE_COMMAND} -G Ninja -S ${SCRATCH}/stand_in -B ${SCRATCH}/build ${ARGN})
endmacro()

# Checks whether the last run passed, failed or did either, that standard error has LINES lines (or "any"), and
# that its streams contain the words.
function(expect how lines)
  set(wrong "")
  list(LENGTH said number)
  if((how STREQUAL "passes" AND NOT code EQUAL 0) OR (how STREQUAL "fails" AND NOT code MATCHES "^[1-9]"))
    set(wrong "it ends with ${code}")
  elseif(NOT lines STREQUAL "any" AND NOT lines EQUAL number)
    set(wrong "${number} lines are said, not ${lines}")
  endif()
  foreach(words IN LISTS ARGN)
    string(FIND "${text}" "${words}" at)
    if(at EQUAL -1)
      string(APPEND wrong " '${words}' is not said")
    endif()
  endforeach()
  if(wrong)
    message(FATAL_ERROR "${CASE}: ${wrong} (${code})\n${text}")
  endif()
endfunction()

# Redirects apt and the downloads of archives to an address.
macro(network_at address)
  cmake_host_system_information(RESULT codename QUERY DISTRIB_VERSION_CODENAME)
  file(WRITE ${SCRATCH}/sources.list "deb ${address}/debian ${codename} main\n")
  file(WRITE ${SCRATCH}/apt.conf
       "Dir::Etc::sourcelist \"${SCRATCH}/sources.list\";\nDir::Etc::sourceparts \"${SCRATCH}/none\";\n")
  list(APPEND environment APT_CONFIG=${SCRATCH}/apt.conf https_proxy=${address})
  run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${SCRATCH}/build -D CMAKE_CUDA_COMPILER=OFF
      -D CMAKE_DISABLE_FIND_PACKAGE_GTest=ON -D CMAKE_DISABLE_FIND_PACKAGE_benchmark=ON
      -D CMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON ${ARGN})
endmacro()
set(what_to_do libgtest-dev libbenchmark-dev nlohmann-json3-dev CMAKE_PREFIX_PATH FETCHCONTENT_SOURCE_DIR_GTEST)

# a package for find_package, laid out as in Debian, and a project that needs it
set(config "lib/cmake/fake/fake-config.cmake")
function(write_config folder)
  file(WRITE ${folder}/${config} "add_library(fake::fake INTERFACE IMPORTED)\n")
  file(WRITE ${folder}/lib/cmake/fake/fake-config-version.cmake
       "set(PACKAGE_VERSION 1.2)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
endfunction()
macro(configure_needing version url hash)
  stand_in("include(${SOURCE}/cmake/Dependencies.cmake)
set(pin_fake Fake ${version} libfake-dev ${url} ${hash})
recheck_dependency(fake)
if(NOT recheck_problem AND NOT TARGET fake::fake)
  message(FATAL_ERROR \"no target\")
endif()")
  configure(${ARGN})
endmacro()

# Configures on made-up machines, one per line: nvcc (new, old, or none) | cuInit's code and the compute
# capabilities of the driver's GPUs; empty: no library | CUDA version and compute capabilities that nvidia-smi
# prints, or its error | variables; `same`: in the same build folder | lines | words, separated by ….
set(new 13.0 75 80 86 89 90 100 110 103 120)
set(old 12.4 50 70 75 80 86 89 90)
set(nvcc_path ${SCRATCH}/cuda/bin/nvcc)
set(toolkit "include(${SOURCE}/cmake/Toolkit.cmake)
list(JOIN CMAKE_CUDA_ARCHITECTURES \" \" list)
message(STATUS \"for \${list}.\")")
function(machines table)
  program(cuda/bin/nvcc [[asked=$1
set -- $NVCC
case $asked in
--version) echo "Cuda compilation tools, release $1, V$1.1";;
--list-gpu-arch) shift; printf 'compute_%s\n' "$@";;
*) echo "$NVCC_SAYS" >&2; exit 1;;
esac]])
  program(bin/nvidia-smi [[set -- "$1" $SMI
case $2:$1 in
[0-9N]*:--query-gpu=*) echo "$3" | tr , '\n';;
[0-9N]*) echo "| NVIDIA-SMI 1.2   Driver Version: 1.2   CUDA UMD Version: $2     |";;
*) echo "$SMI"; exit 9;;
esac]])
  file(WRITE ${SCRATCH}/none/libcuda.so.1 "")  # the machine's own is not found
  file(WRITE ${SCRATCH}/driver/cuda.c [[
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int cuInit(unsigned f) { int e = atoi(getenv("DRIVER")); return e == 1000 ? sleep(99) : e; }
int cuGetErrorString(int e, const char** s) { return *s = "it is made up", 0; }
int cuDriverGetVersion(int* v) { return *v = 13010, 0; }
int cuDeviceGetCount(int* n) { return *n = strlen(getenv("DRIVER")) / 4, 0; }
int cuDeviceGetAttribute(int* v, int a, int d) {
  const int gpu = atoi(getenv("DRIVER") + 2 + 4 * d);
  return *v = a == 75 ? gpu / 10 : gpu % 10, 0;
}
]])
  run(c++ -shared -fPIC -x c ${SCRATCH}/driver/cuda.c -o ${SCRATCH}/driver/libcuda.so.1)
  expect(passes 0)
  set(columns nvcc driver smi variables number words)
  string(REPLACE ";" "§" table "${table}")  # a semicolon would split the list
  string(REGEX MATCHALL "[^\n]+" rows "${table}")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE " *\\| *" ";" row "${row}")
    foreach(column value IN ZIP_LISTS columns row)
      set(${column} "${value}")
    endforeach()
    separate_arguments(variables UNIX_COMMAND "${variables}")
    string(REPLACE "§" "\\;" words "${words}")
    string(REPLACE "…" ";" words "${words}")
    set(options -U CMAKE_CUDA_* -U RECHECK_CUDAARCHS)
    if("same" IN_LIST variables)
      list(REMOVE_ITEM variables same)
      set(options "")
    endif()
    if(nvcc)
      list(JOIN ${nvcc} " " nvcc)
      list(APPEND options -D CMAKE_CUDA_COMPILER=${nvcc_path})
    endif()
    set(library driver)
    if(driver STREQUAL "")
      set(library none)
    endif()
    run(LD_LIBRARY_PATH=${SCRATCH}/${library} "DRIVER=${driver}" "SMI=${smi}" "NVCC=${nvcc}"
        ${variables} ${CMAKE_COMMAND} ${options} -G Ninja -S ${SCRATCH}/stand_in -B ${SCRATCH}/build)
    expect(any "${number}" ${words})
  endforeach()
endfunction()

if(CASE STREQUAL no_apt)
  set(limit 15)
  network_at(${refusing} -D RECHECK_APT_GET=OFF)
  expect(fails 1 ${what_to_do} "the distribution: not one with apt")

elseif(CASE STREQUAL hanging_network)
  # a server that accepts connections and never answers
  execute_process(COMMAND sh -c "python3 -c '\
import socket, time
with socket.create_server((\"127.0.0.1\", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    time.sleep(60)' >${SCRATCH}/port 2>&1 & until test -s ${SCRATCH}/port; do sleep 0.1; done")
  file(STRINGS ${SCRATCH}/port port REGEX "^[0-9]+$")
  if(NOT port)
    skip("Python was not found")
  endif()
  set(limit 45)  # 15 for each way, plus the rest
  network_at(http://127.0.0.1:${port})
  expect(fails 1 ${what_to_do} "archives: Timeout was reached")

elseif(CASE STREQUAL installed)
  write_config(${SCRATCH}/prefix)
  configure_needing(1.1 ${refusing} 0 -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix)
  expect(passes any "Fake 1.2: as installed")
  configure(-D RECHECK_DEPENDENCIES=archive)
  expect(fails 1 "Fake 1.1 (libfake-dev, FETCHCONTENT_SOURCE_DIR_FAKE)" "distribution: not tried")

elseif(CASE STREQUAL distribution)
  find_program(DPKG_DEB dpkg-deb)
  if(NOT DPKG_DEB)
    skip("dpkg-deb was not found")
  endif()
  # two packages, like those of a shared library: one has links to the files of the other
  write_config(${SCRATCH}/libfake-dev/usr)
  file(MAKE_DIRECTORY ${SCRATCH}/libfake1/usr/lib/cmake/fake)
  file(RENAME ${SCRATCH}/libfake-dev/usr/${config} ${SCRATCH}/libfake1/usr/lib/cmake/fake/fake1)
  file(CREATE_LINK fake1 ${SCRATCH}/libfake-dev/usr/${config} SYMBOLIC)
  foreach(package libfake-dev libfake1)
    file(WRITE ${SCRATCH}/${package}/DEBIAN/control "Package: ${package}\nVersion: 1.2-3\n\
Architecture: all\nMaintainer: nobody\nDescription: nothing\n")
    execute_process(COMMAND ${DPKG_DEB} -b ${SCRATCH}/${package} ${SCRATCH}/${package}.deb
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  program(bin/apt-get "case $* in
*download*) touch ${SCRATCH}/downloaded; shift 3; for package; do cp ${SCRATCH}/$package.deb . || exit; done;;
*) touch $(dirname $2)/lists/a_InRelease;;
esac")
  program(bin/apt-cache "echo Package: libfake-dev
echo Version: 1.2-3
echo 'Depends: libc6 (>= 2.1), libfake1 (= 1.2-3), fake-sources (= 1.2-3)'")
  configure_needing(1.3 ${refusing} 0)
  expect(fails 1 "distribution: too old")
  if(EXISTS ${SCRATCH}/downloaded)
    message(FATAL_ERROR "what is too old is downloaded")
  endif()
  configure_needing(1.2 ${refusing} 0)
  expect(passes any "Fake 1.2: from the distribution's package")
  program(bin/apt-get "touch ${SCRATCH}/again")
  configure()
  expect(passes any "Fake 1.2: from the distribution's package")
  if(EXISTS ${SCRATCH}/again)
    message(FATAL_ERROR "it is fetched twice")
  endif()

elseif(CASE STREQUAL archive)
  file(WRITE ${SCRATCH}/fake/CMakeLists.txt "add_library(fake::fake INTERFACE IMPORTED GLOBAL)\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -E tar c v1.2.0.tar fake WORKING_DIRECTORY ${SCRATCH}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 ${SCRATCH}/v1.2.0.tar hash)
  set(only -D RECHECK_DEPENDENCIES=archive)
  configure_needing(1.1 file://${SCRATCH}/v1.2.0.tar 0 ${only})
  expect(fails 1 "v1.2.0.tar has another SHA-256")
  configure(-D FETCHCONTENT_SOURCE_DIR_FAKE=${SCRATCH}/fake)
  expect(passes any "Fake: from ${SCRATCH}/fake")
  configure_needing(1.1 file://${SCRATCH}/v1.2.0.tar ${hash} ${only} -U FETCHCONTENT_SOURCE_DIR_FAKE)
  file(REMOVE ${SCRATCH}/v1.2.0.tar)
  configure(${only})
  expect(passes any "Fake 1.2.0: from the pinned archive")

elseif(CASE STREQUAL architectures)
  # the build is for the right architectures, or one line gives the reason
  stand_in("${toolkit}")
  machines([[
new | 0 090 | broken | | 0 | for 90a-real.
new | 0 090 086 090 | 13.1 8.9 | | 0 | for 86-real 90a-real.
new | 0 080 090 | broken | CUDA_VISIBLE_DEVICES= | 0 | for 80-real 90a-real.
new | | 13.1 8.9 | | 0 | for 89-real.
new | | 13.1 9.0,8.6 | | 0 | for 86-real 90a-real.
new | 0 086 | | PYTHONHOME=/nowhere PYTHONHASHSEED=abc PYTHONPLATLIBDIR=x | 0 | for 86-real.
new | 0 130 086 | broken | | 0 | for 120-virtual 86-real.
old | 0 100 | broken | | 0 | for 90-virtual.
new | 0 070 | broken | | 1 | CUDA 13.0 has no code for a GPU of compute capability 7.0…Install CUDA 12.4 to 12.9…for 75-virtual 90a-real.
new | 0 070 090 | broken | | 1 | no code for a GPU of compute capability 7.0…for 90a-real.
old | 0 070 | broken | | 0 | for 70-real.
old | 0 035 | broken | | 1 | Install a newer GPU
new | | broken | | 0 | libcuda.so.1 was not found; nvidia-smi: broken…for 75-virtual 90a-real.
new | 100 | broken | | 0 | libcuda.so.1: it is made up (100); nvidia-smi: broken…for 75-virtual 90a-real.
new | | 13.1 [N/A] | | 0 | nvidia-smi: it does not say…for 75-virtual 90a-real.
new | 803 | broken | | 1 | driver does not work…(803); reboot…for 75-virtual 90a-real.
new | 802 | broken | | 1 | (802); start the service nvidia-fabricmanager
new | 999 | 13.1 9.0 | | 1 | (999), though nvidia-smi lists the GPU; check…for 90a-real.
new | 34 | broken | | 1 | stubs out of LD_LIBRARY_PATH
new | 1000 | 13.1 9.0 | | 1 | The NVIDIA driver does not answer: reboot, or configure with -DCMAKE_CUDA_COMPILER=OFF
new | | Driver/library version mismatch | | 1 | driver does not work…reboot…for 75-virtual 90a-real.
new | | could not communicate with the NVIDIA driver | | 1 | driver does not work…load the kernel module nvidia
new | | 12.8 9.0 | | 1 | driver supports CUDA 12.8, older than the toolkit's 13.0: update the
old | | 13.1 9.0 | | 0 | for 90a-real.
new | | N/A 9.0 | | 0 | nvidia-smi does not say which CUDA the driver supports
new | 0 090 | | CUDAARCHS=90-real | 0 | for 90-real.
new | 0 090 | | same CUDAARCHS=90a-real | 0 | for 90a-real.
new | 0 090 | | CUDAARCHS=80-real | 1 | None of 80-real, which CUDAARCHS…9.0 here: its rows will not run
new | 0 089 | | CUDAARCHS=80-real | 0 | for 80-real.
new | 0 090 | | CUDAARCHS=80 | 0 | for 80.
new | 0 080 | | CUDAARCHS=90 | 1 | runs on the GPU of compute capability 8.0 here
new | 0 090 | | CUDAARCHS=70 | 1 | CUDA 13.0 has no architecture '70', which
new | 0 090 | | CUDAARCHS=sm_80 | 1 | has no architecture 'sm_80'
new | | broken | CUDAARCHS=native | 1 | The architecture native, which…needs a GPU…nvidia-smi: broken
new | | broken | same CUDAARCHS=80 | 0 | for 80.
]])
  stand_in("set(RECHECK_ALL_ARCHITECTURES ON)\n${toolkit}")
  machines([[
new | 0 090 | | | 0 | for 75 80-real 86-real 89-real 90a-real 100-real 120.
old | 0 090 | | | 0 | for 75 80-real 86-real 89-real 90a-real 90-virtual.
]])

elseif(CASE STREQUAL compilers)
  # an nvcc that does not work, or a program that is not nvcc
  stand_in("enable_language(CXX)\n${toolkit}")
  program(bin/clang++ "echo clang version 19")
  set(off "…-DCMAKE_CUDA_COMPILER=OFF")
  machines("
 | | | CUDACXX=/nowhere/nvcc | 1 | /nowhere/nvcc is not NVIDIA's nvcc (…o such file or directory): unset CUDACXX${off}
 | | | CUDACXX=${CMAKE_COMMAND} | 1 | is not NVIDIA's nvcc (cmake version ${off}
 | | | CUDACXX=clang++ | 1 | clang++ is not NVIDIA's nvcc (clang version 19)${off}
 | | | CUDACXX=${nvcc_path} NVCC=11.8 | 1 | CUDA Toolkit 11.8 is too old: Recheck needs 12${off}
 | | | CUDACXX=${nvcc_path} NVCC=13.0 | 1 | does not work: exit code 1. ${off}
 | | | CUDACXX=${nvcc_path} NVCC=13.0 'NVCC_SAYS=#error -- unsupported GNU version!' | 1 | does not work: #error -- unsupported GNU version!. If that${off}
")
  # an empty CUDACXX counts as unset
  stand_in("set(RECHECK_NVCC OFF)\n${toolkit}")
  machines(" | | | CUDACXX= | 1 | No CUDA Toolkit found: only the CPU rows")

elseif(CASE STREQUAL driver_alone)
  # a toolkit that cannot run here is not fetched
  stand_in("set(RECHECK_NVCC OFF)\n${toolkit}")
  list(APPEND environment PIP_INDEX_URL=${refusing} PIP_FIND_LINKS= PIP_EXTRA_INDEX_URL=)
  set(only "…only the CPU rows are built")
  machines("
 | | : | | 1 | No CUDA Toolkit found${only}
 | 100 | : | | 1 | No CUDA Toolkit found${only}
 | 803 | 13.1 9.0 | | 1 | , and the NVIDIA driver does not work: it is made up (803); reboot${only}…Then configure again
 | | 12.8 9.0 | | 1 | , and the driver supports CUDA 12.8, too old for the packages of 13.0${only}
 | 0 070 | | | 1 | CUDA 13.0, which would be fetched, has no code for a GPU of compute capability 7.0…Install CUDA 12.4 to 12.9
 | 0 090 | | | 1 | , and its packages cannot be fetched (ERROR: …(CUDA 13.1): fetching CUDA Toolkit 13.0${only}
")

elseif(CASE STREQUAL one_toolkit)
  foreach(at lib64 lib/x86_64-linux-gnu targets/x86_64-linux/lib elsewhere)
    foreach(version 13.0 12.9)
      program(usr/bin/nvcc "echo release ${version}, V")
      stand_in("${toolkit}\nset(CUDA_cublas_LIBRARY ${SCRATCH}/usr/${at}/libcublas.so)\nrecheck_one_toolkit()")
      set(expected "0 | for 90a-real.")
      if(version STREQUAL "12.9" AND NOT at STREQUAL "elsewhere")
        set(expected "1 | Two CUDA Toolkits: the compiler is ${nvcc_path} (13.0)…libcublas.so (12.9)")
      endif()
      machines("new | 0 090 | | | ${expected}")
    endforeach()
  endforeach()

elseif(CASE STREQUAL cuda_wheels)
  file(WRITE ${SCRATCH}/any.txt "cuda-toolkit\n")
  run(${CMAKE_COMMAND} -D PYTHON=python3 -D FOLDER=${SCRATCH}/python -D REQUIREMENTS=${SCRATCH}/any.txt
      -D CHECK=pass -P ${SOURCE}/cmake/packages.cmake)
  if(NOT code EQUAL 0)
    skip("Python packages cannot be fetched")
  endif()
  stand_in("set(CMAKE_CUDA_STANDARD 20)
enable_language(CXX)
set(RECHECK_NVCC OFF)
${toolkit}
enable_language(CUDA)
add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
find_package(CUDAToolkit REQUIRED)
recheck_one_toolkit()
add_executable(try ${SOURCE}/kernels/machine/copy.cu try.cpp)
target_link_libraries(try CUDA::cudart_static CUDA::cublas)")
  file(WRITE ${SCRATCH}/stand_in/try.cpp "#include <cublas_v2.h>
int main() { int version; return cublasGetProperty(MAJOR_VERSION, &version) || version != 13; }\n")
  set(limit 600)
  machines(" | | 13.1 9.0 | | 0 | fetching CUDA Toolkit 13.0…for 90a-real.")
  run(--unset=LD_LIBRARY_PATH sh -c "cd ${SCRATCH}/build && '${CMAKE_COMMAND}' --build . && ./try && ldd try")
  expect(passes any "libcublas.so.13 => ${SCRATCH}/build/cuda/" "libcublasLt.so.13 => ${SCRATCH}/build/cuda/")
  file(REMOVE_RECURSE ${SCRATCH}/build)  # 1.1 GB

elseif(CASE STREQUAL no_python)
  stand_in("set(recheck_reports ${SOURCE}/reports)
include(${SOURCE}/cmake/Python.cmake)
add_subdirectory(${SOURCE}/reports reports)")
  configure(-D CMAKE_DISABLE_FIND_PACKAGE_Python3=ON)
  expect(passes 1 "Python 3.11 or newer was not found: install it")
  run(${CMAKE_COMMAND} --build ${SCRATCH}/build --target report)
  expect(fails any "Python 3.11 or newer was not found: install it")

elseif(CASE STREQUAL python_packages)
  find_program(PYTHON python3)
  execute_process(COMMAND ${PYTHON} -c "import ensurepip" RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    skip("Python or its venv was not found")
  endif()
  # only the sources of packages apply from the settings of pip
  execute_process(COMMAND ${PYTHON} -c "import zipfile
with zipfile.ZipFile('made_up-1-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('made_up.py', '')
    wheel.writestr('made_up-1.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: made-up\\nVersion: 1\\n')
    wheel.writestr('made_up-1.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('made_up-1.dist-info/RECORD', '')" WORKING_DIRECTORY ${SCRATCH} COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${SCRATCH}/made_up.txt "made-up==1\n")
  set(install ${CMAKE_COMMAND} -D PYTHON=${PYTHON} -D FOLDER=${SCRATCH}/python -D REQUIREMENTS=${SCRATCH}/made_up.txt)
  run(PIP_INDEX_URL=${refusing} PIP_FIND_LINKS= ${install} -D CHECK=pass -P ${SOURCE}/cmake/packages.cmake)
  expect(fails 1 "packages cannot be fetched" "see to the network")
  file(WRITE ${SCRATCH}/pip.conf "[global]\nno-index = true\nfind-links = ${SCRATCH}\n[install]\nno-deps = no\n\
prefix = ${SCRATCH}/prefix\nrequire-hashes = true\n")
  list(APPEND environment PIP_FIND_LINKS= PIP_NO_INDEX= PIP_INDEX_URL=${refusing} PIP_CONFIG_FILE=${SCRATCH}/pip.conf
       PIP_TARGET=${SCRATCH}/target PIP_USER=1 PIP_REQUIRE_VIRTUALENV=1 PIP_DRY_RUN=1 PIP_PYTHON=/nowhere
       PIP_CONSTRAINT=/nowhere PYTHONHOME=/nowhere PYTHONPATH=${SCRATCH})
  run(${install} -D "CHECK=import made_up" -P ${SOURCE}/cmake/packages.cmake)
  expect(passes 0)
  # an installation whose import fails is not complete
  run(${install} -D "CHECK=import another" -P ${SOURCE}/cmake/packages.cmake)
  expect(fails 1 "No module named 'another'")
  if(EXISTS ${SCRATCH}/python/ready)
    message(FATAL_ERROR "it passes for ready")
  endif()

elseif(CASE STREQUAL no_ninja)
  set(environment PATH=${SCRATCH}/bin)
  run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${SCRATCH}/build -D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF)
  expect(fails 1 "Ninja was not found: install ninja-build")

else()
  message(FATAL_ERROR "unknown case '${CASE}'")
endif()
