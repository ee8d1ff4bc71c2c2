# SPDX-License-Identifier: Apache-2.0
# cmake -D CASE=NAME -D SOURCE=FOLDER -D SCRATCH=FOLDER -P setup_test.cmake
#
# What a newcomer meets where something is missing or odd: a closed way ends in one line that says what to do,
# and soon. Scripts stand in for apt, nvcc and nvidia-smi, a made-up library for the driver, and small
# projects for this one where configuring all of it would show no more.
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/skip.cmake)
if(NOT PORT)
  file(REMOVE_RECURSE ${SCRATCH})
endif()
file(MAKE_DIRECTORY ${SCRATCH}/bin ${SCRATCH}/lib ${SCRATCH}/stand_in)
unset(ENV{CUDAARCHS})
set(environment --unset=CUDACXX --unset=CUDA_PATH --unset=CUDA_HOME "PATH=${SCRATCH}/bin:$ENV{PATH}")
set(refusing http://127.0.0.1:9)

function(program name text)
  file(WRITE ${SCRATCH}/bin/${name} "#!/bin/sh\n${text}\n")
  file(CHMOD ${SCRATCH}/bin/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
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

# Runs a command. Leaves its exit code in `code`, both its streams in `text`, how long it took in
# `seconds`, and in `said` the lines on standard error but for the frames that CMake puts around.
macro(run)
  string(TIMESTAMP seconds %s)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${environment} ${ARGN}
                  OUTPUT_VARIABLE text ERROR_VARIABLE said RESULT_VARIABLE code)
  string(TIMESTAMP now %s)
  math(EXPR seconds "${now} - ${seconds}")
  string(APPEND text "${said}")
  string(REPLACE ";" "," said "${said}")
  string(REPLACE "\n" ";" said "${said}")
  list(FILTER said EXCLUDE REGEX
       "^ *$|^CMake (Error|Warning) at |^Call Stack|^  [^ ]+:[0-9]+ \\(|^make: |^gmake: ")
endmacro()
macro(configure source)
  run(${CMAKE_COMMAND} -G Ninja -S ${source} -B ${SCRATCH}/build ${ARGN})
endmacro()

# Checks that the last run `how` = passes or fails (or "any"), that standard error has `lines` lines (or "any"), and
# that both streams contain the words.
function(expect how lines)
  set(wrong "")
  list(LENGTH said number)
  if((how STREQUAL "passes" AND NOT code EQUAL 0) OR (how STREQUAL "fails" AND code EQUAL 0))
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
    message(FATAL_ERROR "${CASE}: ${wrong} (exit code ${code} after ${seconds} s)\n${text}")
  endif()
endfunction()
function(expect_within limit)
  if(seconds GREATER limit)
    message(FATAL_ERROR "${CASE}: it takes longer than ${limit} s: ${seconds} s\n${text}")
  endif()
endfunction()

# Has apt look for the distribution, and CMake for the archives, at an address.
macro(network_at address)
  cmake_host_system_information(RESULT codename QUERY DISTRIB_VERSION_CODENAME)
  file(WRITE ${SCRATCH}/sources.list "deb ${address}/debian ${codename} main\n")
  file(WRITE ${SCRATCH}/apt.conf "Dir::Etc::sourcelist \"${SCRATCH}/sources.list\";
Dir::Etc::sourceparts \"${SCRATCH}/none\";
")
  list(APPEND environment APT_CONFIG=${SCRATCH}/apt.conf https_proxy=${address})
endmacro()
set(not_installed -D CMAKE_CUDA_COMPILER=OFF -D CMAKE_DISABLE_FIND_PACKAGE_GTest=ON
    -D CMAKE_DISABLE_FIND_PACKAGE_benchmark=ON -D CMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
set(what_to_do libgtest-dev libbenchmark-dev nlohmann-json3-dev CMAKE_PREFIX_PATH
    FETCHCONTENT_SOURCE_DIR_GTEST)

# a package for find_package, as Debian has them
set(config "lib/cmake/fake/fake-config.cmake")
function(write_config folder)
  file(WRITE ${folder}/${config} "add_library(fake::fake INTERFACE IMPORTED)\n")
  file(WRITE ${folder}/lib/cmake/fake/fake-config-version.cmake
       "set(PACKAGE_VERSION 1.2)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
endfunction()
function(stand_in_for_dependencies version url hash)
  stand_in("include(${SOURCE}/cmake/Dependencies.cmake)
set(pin_fake Fake ${version} libfake-dev ${url} ${hash})
recheck_dependency(fake)
if(NOT recheck_problem AND NOT TARGET fake::fake)
  message(FATAL_ERROR \"no target\")
endif()")
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/machine.cmake)

if(CASE STREQUAL no_apt)
  network_at(${refusing})
  configure(${SOURCE} ${not_installed} -D RECHECK_APT_GET=OFF)
  expect(fails 1 ${what_to_do} "the distribution: not one with apt")
  expect_within(15)

elseif(CASE STREQUAL no_network)
  network_at(${refusing})
  configure(${SOURCE} ${not_installed})
  expect(fails 1 ${what_to_do})
  expect_within(15)

elseif(CASE STREQUAL hanging_network AND NOT PORT)
  # someone has to listen, and never answer
  find_program(PYTHON python3)
  if(NOT PYTHON)
    skip("Python was not found")
  endif()
  execute_process(COMMAND ${PYTHON} -c "import socket, subprocess, sys
with socket.create_server(('127.0.0.1', 0)) as listener:
    port = '-DPORT=' + str(listener.getsockname()[1])
    sys.exit(subprocess.run([sys.argv[1], port, *sys.argv[2:]]).returncode)"
      ${CMAKE_COMMAND} -D CASE=${CASE} -D SOURCE=${SOURCE} -D SCRATCH=${SCRATCH}
      -P ${CMAKE_CURRENT_LIST_FILE}
    COMMAND_ERROR_IS_FATAL ANY)

elseif(CASE STREQUAL hanging_network)
  network_at(http://127.0.0.1:${PORT})
  configure(${SOURCE} ${not_installed})
  expect(fails 1 ${what_to_do} "archives: Timeout was reached")
  expect_within(45)  # for each way 15, and something for all the rest

elseif(CASE STREQUAL installed)
  write_config(${SCRATCH}/prefix)
  stand_in_for_dependencies(1.1 ${refusing} 0)
  configure(${SCRATCH}/stand_in -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix)
  expect(passes any "Fake 1.2: as installed")
  configure(${SCRATCH}/stand_in -D RECHECK_DEPENDENCIES=archive)
  expect(fails 1 "Fake 1.1 (libfake-dev, FETCHCONTENT_SOURCE_DIR_FAKE)" "distribution: not tried")

elseif(CASE STREQUAL distribution)
  cmake_host_system_information(RESULT os QUERY DISTRIB_INFO)
  find_program(DPKG_DEB dpkg-deb)
  if(NOT "${os_ID} ${os_ID_LIKE}" MATCHES "debian|ubuntu" OR NOT DPKG_DEB)
    skip("this is no distribution with apt")
  endif()
  # the package itself and what it points to come in two, as a shared library does
  foreach(package libfake-dev libfake1)
    file(WRITE ${SCRATCH}/${package}/DEBIAN/control "Package: ${package}\nVersion: 1.2-3\n\
Architecture: all\nMaintainer: nobody\nDescription: nothing\n")
  endforeach()
  write_config(${SCRATCH}/libfake-dev/usr)
  file(RENAME ${SCRATCH}/libfake-dev/usr/${config} ${SCRATCH}/config)
  file(CREATE_LINK fake1 ${SCRATCH}/libfake-dev/usr/${config} SYMBOLIC)
  file(COPY_FILE ${SCRATCH}/config ${SCRATCH}/config.cmake)
  file(MAKE_DIRECTORY ${SCRATCH}/libfake1/usr/lib/cmake/fake)
  file(RENAME ${SCRATCH}/config ${SCRATCH}/libfake1/usr/lib/cmake/fake/fake1)
  foreach(package libfake-dev libfake1)
    execute_process(COMMAND ${DPKG_DEB} -b ${SCRATCH}/${package} ${SCRATCH}/${package}.deb
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  program(apt-get "echo \"$*\" >>${SCRATCH}/log
case $* in
*--print-uris*) echo \"'http://a/dists/stable/InRelease' x\"; echo \"'http://b/dists/b/InRelease' x\";;
*download*) shift 3; for package; do cp ${SCRATCH}/$package.deb . || exit; done;;
*) touch $(dirname $2)/lists/a_InRelease;;
esac")
  program(apt-cache "echo Package: libfake-dev
echo Version: 1.2-3
echo 'Depends: libc6 (>= 2.1), libfake1 (= 1.2-3), fake-sources (= 1.2-3)'")
  stand_in_for_dependencies(1.3 ${refusing} 0)
  configure(${SCRATCH}/stand_in)
  expect(fails 1 "distribution: too old")
  file(READ ${SCRATCH}/log text)
  if(text MATCHES "download")
    message(FATAL_ERROR "what is too old is downloaded")
  endif()
  file(STRINGS ${SCRATCH}/build/distribution/apt/sources.list sources)
  if(NOT sources MATCHES "^deb [^;]* http://a stable main[^;]*$")
    message(FATAL_ERROR "another source than the distribution's own is asked: ${sources}")
  endif()
  stand_in_for_dependencies(1.2 ${refusing} 0)
  configure(${SCRATCH}/stand_in)
  expect(passes any "Fake 1.2: from the distribution's package")
  file(REMOVE ${SCRATCH}/log)
  configure(${SCRATCH}/stand_in)
  expect(passes any "Fake 1.2: from the distribution's package")
  if(EXISTS ${SCRATCH}/log)
    message(FATAL_ERROR "it is fetched twice")
  endif()

elseif(CASE STREQUAL archive)
  file(WRITE ${SCRATCH}/fake/CMakeLists.txt "add_library(fake::fake INTERFACE IMPORTED GLOBAL)\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -E tar c v1.2.0.tar fake WORKING_DIRECTORY ${SCRATCH}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 ${SCRATCH}/v1.2.0.tar hash)
  set(only -D RECHECK_DEPENDENCIES=archive)
  stand_in_for_dependencies(1.1 file://${SCRATCH}/v1.2.0.tar 0)
  configure(${SCRATCH}/stand_in ${only})
  expect(fails 1 "v1.2.0.tar has another SHA-256")
  configure(${SCRATCH}/stand_in -D FETCHCONTENT_SOURCE_DIR_FAKE=${SCRATCH}/fake)
  expect(passes any "Fake: from ${SCRATCH}/fake")
  stand_in_for_dependencies(1.1 file://${SCRATCH}/v1.2.0.tar ${hash})
  configure(${SCRATCH}/stand_in ${only} -U FETCHCONTENT_SOURCE_DIR_FAKE)
  file(REMOVE ${SCRATCH}/v1.2.0.tar)
  configure(${SCRATCH}/stand_in ${only})
  expect(passes any "Fake 1.2.0: from the pinned archive")

elseif(CASE STREQUAL architectures)
  # the build is for the right architectures, or one line gives the reason
  make_up_driver()
  stand_in("${stand_in_for_toolkit}")
  set(no_smi "echo broken")
  set(new 13.0 75 80 86 89 90 100 110 103 120)
  set(old 12.4 50 70 75 80 86 89 90)
  machine("${new}" "0 090" "${no_smi}" "" 0 "for 90a-real.")
  machine("${new}" "0 090 086 090" "13.1 8.9" "" 0 "for 86-real 90a-real.")
  machine("${new}" "0 080 090" "${no_smi}" "CUDA_VISIBLE_DEVICES=" 0 "for 80-real 90a-real.")
  machine("${new}" "" "13.1 8.9" "" 0 "for 89-real.")
  machine("${new}" "" "13.1 9.0\\\\n8.6" "" 0 "for 86-real 90a-real.")
  machine("${new}" "0 086" "" "PYTHONHOME=/nowhere" 0 "for 86-real.")
  # newer than nvcc, older, and one of both
  machine("${new}" "0 130 086" "${no_smi}" "" 0 "for 120-virtual 86-real.")
  machine("${old}" "0 100" "${no_smi}" "" 0 "for 90-virtual.")
  machine("${new}" "0 070" "${no_smi}" "" 1 "CUDA 13.0 has no code for a GPU of compute capability 7.0"
          "Install CUDA 12.4 to 12.9" "for 75-virtual 90a-real.")
  machine("${new}" "0 070 090" "${no_smi}" "" 1 "no code for a GPU of compute capability 7.0" "for 90a-real.")
  machine("${old}" "0 070" "${no_smi}" "" 0 "for 70-real.")
  machine("${old}" "0 035" "${no_smi}" "" 1 "Install a newer GPU")
  # unknown GPUs
  set(default "for 75-virtual 90a-real.")
  machine("${new}" "" "${no_smi}" "" 0 "libcuda.so.1 was not found; nvidia-smi: broken" ${default})
  machine("${new}" "100" "${no_smi}" "" 0 "libcuda.so.1: it is made up (100); nvidia-smi: broken" ${default})
  machine("${new}" "" "13.1 [N/A]" "" 0 "nvidia-smi: it does not say" ${default})
  # the driver does not work, or not with this toolkit
  machine("${new}" "803" "${no_smi}" "" 1 "driver does not work" "(803); reboot" ${default})
  machine("${new}" "" "echo Driver/library version mismatch" "" 1 "driver does not work" "reboot" ${default})
  machine("${new}" "802" "13.1 9.0" "" 1 "driver does not work" "(802)" "for 90a-real.")
  machine("${new}" "34" "${no_smi}" "" 1 "stubs out of LD_LIBRARY_PATH")
  machine("${new}" "" "12.8 9.0" "" 1 "driver supports CUDA 12.8, older than the toolkit's 13.0: update the")
  machine("${old}" "" "13.1 9.0" "" 0 "for 90a-real.")
  machine("${new}" "" "'' 9.0" "" 0 "nvidia-smi: ")
  # the user names architectures
  foreach(case "80;89-real.for 80 89-real." "70.CUDA 13.0 has no architecture '70'" "sm_80.has no architecture 'sm_80'")
    string(REGEX MATCH "^([^.]*)\\.(.*)" case "${case}")
    set(ENV{CUDAARCHS} "${CMAKE_MATCH_1}")
    machine("${new}" "0 090" "" "" any "${CMAKE_MATCH_2}")
  endforeach()
  unset(ENV{CUDAARCHS})
  stand_in("set(RECHECK_ALL_ARCHITECTURES ON)\n${stand_in_for_toolkit}")
  machine("${new}" "0 090" "" "" 0 "for 75 80-real 86-real 89-real 90a-real 100-real 120.")
  machine("${old}" "0 090" "" "" 0 "for 75 80-real 86-real 89-real 90a-real 90-virtual.")

elseif(CASE STREQUAL compilers)
  # an nvcc that does not work, or another program
  make_up_driver()
  stand_in("enable_language(CXX)\n${stand_in_for_toolkit}")
  macro(compiler variable)
    machine("" "" "" "${variable}" 1 ${ARGN} "-DCMAKE_CUDA_COMPILER=OFF")
  endmacro()
  compiler(CUDACXX=/nowhere/nvcc "/nowhere/nvcc is not NVIDIA's nvcc (" "o such file or directory): unset CUDACXX")
  compiler(CUDACXX=${CMAKE_COMMAND} "is not NVIDIA's nvcc (cmake version ")
  program(clang++ "echo clang version 19")
  compiler(CUDACXX=clang++ "clang++ is not NVIDIA's nvcc (clang version 19)")
  set(other ${SCRATCH}/bin/other)
  foreach(said "11.8;true;CUDA Toolkit 11.8 is too old: Recheck needs 12" "13.0;exit 1;does not work: exit code 1. "
          "13.0;echo '#error -- unsupported GNU version!' >&2;does not work: #error -- unsupported GNU version!. If that")
    list(POP_FRONT said version otherwise words)
    program(other "case $1 in
--version) echo 'Cuda compilation tools, release ${version}, V${version}.1';;
*) ${otherwise}; exit 1;;
esac")
    compiler(CUDACXX=${other} "${words}")
  endforeach()
  # an empty CUDACXX counts as unset
  toolkit(13.0 90)
  stand_in("set(RECHECK_NVCC OFF)\n${stand_in_for_toolkit}")
  machine("" "" "" "CUDACXX=" 1 "No CUDA Toolkit found: only the CPU rows")

elseif(CASE STREQUAL driver_alone)
  # nothing is fetched that cannot run, or has no room
  make_up_driver()
  set(no_toolkit "set(RECHECK_NVCC OFF)\nset(disk_left 100)\n${stand_in_for_toolkit}")
  stand_in("${no_toolkit}")
  macro(alone libcuda smi)
    machine("" "${libcuda}" "${smi}" "" 1 "No CUDA Toolkit found${ARGV2}" "only the CPU rows are built" ${ARGN})
  endmacro()
  alone("" "" ":")
  alone("100" "" ":")
  alone("803" "13.1 9.0" ", and the NVIDIA driver does not work: it is made up (803); reboot")
  alone("" "12.8 9.0" ", and the driver supports CUDA 12.8, too old for the packages of 13.0")
  alone("0 070" "" ", and CUDA 13.0, which would be fetched, has no code for a GPU of compute capability 7.0"
        "Install CUDA 12.4 to 12.9")
  alone("0 070 090" "" ", and its packages take 1800 MB of disk where 100 MB are left")
  string(REPLACE "disk_left 100" "disk_left 9000" no_toolkit "${no_toolkit}")
  stand_in("${no_toolkit}")
  list(APPEND environment PIP_INDEX_URL=${refusing} PIP_FIND_LINKS= PIP_EXTRA_INDEX_URL=)
  alone("0 090" "" ", and its packages cannot be fetched (ERROR: " "(CUDA 13.1): fetching CUDA Toolkit 13.0")

elseif(CASE STREQUAL one_toolkit)
  make_up_driver()
  macro(library folder version lines)
    program(other "echo release ${version}, V")
    file(COPY_FILE ${SCRATCH}/bin/other ${SCRATCH}/usr/bin/nvcc)
    stand_in("${stand_in_for_toolkit}
set(CUDA_cublas_LIBRARY ${SCRATCH}/usr/${folder}/libcublas.so)
recheck_one_toolkit()")
    machine("13.0;90" "0 090" "" "" ${lines} ${ARGN})
  endmacro()
  file(MAKE_DIRECTORY ${SCRATCH}/usr/bin)
  foreach(folder lib64 lib/x86_64-linux-gnu targets/x86_64-linux/lib)
    library(${folder} 13.0 0)
    library(${folder} 12.9 1 "Two CUDA Toolkits: the compiler is ${SCRATCH}/bin/nvcc (13.0)" "libcublas.so (12.9)")
  endforeach()
  library(elsewhere 12.9 0)

elseif(CASE STREQUAL cuda_wheels)
  file(WRITE ${SCRATCH}/any.txt "cuda-toolkit\n")
  run(${CMAKE_COMMAND} -D PYTHON=python3 -D FOLDER=${SCRATCH}/python -D REQUIREMENTS=${SCRATCH}/any.txt
      -D CHECK=pass -P ${SOURCE}/reports/packages.cmake)
  if(NOT code EQUAL 0)
    skip("Python packages cannot be fetched")
  endif()
  stand_in("set(CMAKE_CUDA_STANDARD 20)
enable_language(CXX)
set(RECHECK_NVCC OFF)
${stand_in_for_toolkit}
enable_language(CUDA)
add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
find_package(CUDAToolkit REQUIRED)
recheck_one_toolkit()
add_executable(try ${SOURCE}/kernels/machine/copy.cu try.cpp)
target_link_libraries(try CUDA::cudart_static CUDA::cublas)")
  file(WRITE ${SCRATCH}/stand_in/try.cpp "#include <cublas_v2.h>
int main() { int version; return cublasGetProperty(MAJOR_VERSION, &version) || version != 13; }\n")
  machine("" "" "13.1 9.0" "" 0 "fetching CUDA Toolkit 13.0" "for 90a-real.")
  run(--unset=LD_LIBRARY_PATH sh -c "cd ${SCRATCH}/build && '${CMAKE_COMMAND}' --build . && ./try && ldd try")
  expect(passes any "libcublas.so.13 => ${SCRATCH}/build/cuda/" "libcublasLt.so.13 => ${SCRATCH}/build/cuda/")
  file(REMOVE_RECURSE ${SCRATCH}/build)  # 1.1 GB

elseif(CASE STREQUAL no_python)
  set(renderer "set(recheck_reports ${SOURCE}/reports)
include(${SOURCE}/cmake/Python.cmake)
add_subdirectory(${SOURCE}/reports reports)")
  set(no_python -D CMAKE_DISABLE_FIND_PACKAGE_Python3=ON)
  stand_in("${renderer}")
  configure(${SCRATCH}/stand_in ${no_python})
  expect(passes 1 "Python 3.11 or newer was not found: install it")
  run(${CMAKE_COMMAND} --build ${SCRATCH}/build --target report)
  expect(fails any "Python 3.11 or newer was not found: install it")
  # of two questions to Python, whether there are packages and whether there is venv, both are denied
  program(python3 "exit 1")
  stand_in("set(Python3_FOUND ON)\nset(Python3_EXECUTABLE ${SCRATCH}/bin/python3)\n${renderer}")
  configure(${SCRATCH}/stand_in ${no_python})
  expect(passes 1 "Python's venv was not found: install python3-venv")

elseif(CASE STREQUAL python_packages)
  find_program(PYTHON python3)
  execute_process(COMMAND ${PYTHON} -c "import ensurepip" RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    skip("Python or its venv was not found")
  endif()
  set(install ${CMAKE_COMMAND} -D PYTHON=${PYTHON} -D FOLDER=${SCRATCH}/python)
  run(PIP_INDEX_URL=${refusing} PIP_FIND_LINKS= ${install} -D CHECK=pass -P ${SOURCE}/reports/packages.cmake)
  expect(fails 1 "packages cannot be fetched" "install what reports/requirements.txt lists")
  # pip follows only settings on where packages come from
  execute_process(COMMAND ${PYTHON} -c "import zipfile
with zipfile.ZipFile('made_up-1-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('made_up.py', '')
    wheel.writestr('made_up-1.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: made-up\\nVersion: 1\\n')
    wheel.writestr('made_up-1.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('made_up-1.dist-info/RECORD', '')" WORKING_DIRECTORY ${SCRATCH} COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${SCRATCH}/made_up.txt "made-up==1\n")
  file(WRITE ${SCRATCH}/pip.conf "[global]\nno-index = true\nfind-links = ${SCRATCH}\n[install]\nno-deps = no\n\
prefix = ${SCRATCH}/prefix\nrequire-hashes = true\n")
  list(APPEND install -D REQUIREMENTS=${SCRATCH}/made_up.txt)
  list(APPEND environment PIP_FIND_LINKS= PIP_NO_INDEX= PIP_INDEX_URL=${refusing} PIP_CONFIG_FILE=${SCRATCH}/pip.conf
       PIP_TARGET=${SCRATCH}/target PIP_USER=1 PIP_REQUIRE_VIRTUALENV=1 PIP_DRY_RUN=1 PIP_PYTHON=/nowhere
       PIP_CONSTRAINT=/nowhere PYTHONHOME=/nowhere PYTHONPATH=${SCRATCH})
  run(${install} -D "CHECK=import made_up" -P ${SOURCE}/reports/packages.cmake)
  expect(passes 0)
  # nothing is ready that cannot be imported
  run(${install} -D "CHECK=import another" -P ${SOURCE}/reports/packages.cmake)
  expect(fails 1 "No module named 'another'")
  if(EXISTS ${SCRATCH}/python/ready)
    message(FATAL_ERROR "it passes for ready")
  endif()

elseif(CASE STREQUAL no_ninja)
  set(environment PATH=${SCRATCH}/bin)
  configure(${SOURCE} -D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF)
  expect(fails 1 "Ninja was not found: install ninja-build")

elseif(CASE STREQUAL full_disk)
  # a small file system of its own needs root, or a name space in which one is root
  set(mount mount -t tmpfs -o size=64m none ${SCRATCH}/small)
  file(MAKE_DIRECTORY ${SCRATCH}/small)
  execute_process(COMMAND unshare --mount --map-root-user ${mount} RESULT_VARIABLE failed
                  OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    skip("a small file system needs root or user namespaces")
  endif()
  stand_in("include(${SOURCE}/cmake/Room.cmake)")
  list(JOIN mount " " mount)
  run(unshare --mount --map-root-user sh -c
      "${mount} && '${CMAKE_COMMAND}' -G Ninja -S ${SCRATCH}/stand_in -B ${SCRATCH}/small/build")
  expect(fails 1 "${SCRATCH}/small/build has" "MB of free disk" "make room")

elseif(CASE STREQUAL little_memory)
  stand_in("include(${SOURCE}/cmake/Room.cmake)")
  list(APPEND environment CMAKE_BUILD_PARALLEL_LEVEL=1000000)
  configure(${SCRATCH}/stand_in)
  expect(passes 1 "MB of memory are free" "CMAKE_BUILD_PARALLEL_LEVEL=")

else()
  message(FATAL_ERROR "there is no case '${CASE}'")
endif()
