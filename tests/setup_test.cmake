# SPDX-License-Identifier: Apache-2.0
# cmake -D CASE=NAME -D SOURCE=FOLDER -D SCRATCH=FOLDER -P setup_test.cmake
#
# What a newcomer meets where something is missing: a closed way ends in one line that says what to do,
# and soon. Scripts stand in for apt, nvcc and nvidia-smi, and small projects for this one where
# configuring all of it would show no more.
cmake_policy(VERSION 3.25)
if(NOT PORT)
  file(REMOVE_RECURSE ${SCRATCH})
endif()
file(MAKE_DIRECTORY ${SCRATCH}/bin ${SCRATCH}/stand_in)
set(environment "PATH=${SCRATCH}/bin:$ENV{PATH}")
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

function(fail reason)
  string(REPLACE "\n" "\n  " text "\n${text}")
  message(FATAL_ERROR "${CASE}: ${reason} (exit code ${code} after ${seconds} s)${text}")
endfunction()
function(expect_words)
  foreach(words ${ARGN})
    string(FIND "${text}" "${words}" at)
    if(at EQUAL -1)
      fail("'${words}' is not said")
    endif()
  endforeach()
endfunction()
function(expect_one_line)
  list(LENGTH said lines)
  if(NOT lines EQUAL 1)
    fail("${lines} lines are said, not one")
  endif()
endfunction()
function(expect_error)
  if(code EQUAL 0)
    fail("it passes")
  endif()
  expect_one_line()
  expect_words(${ARGN})
endfunction()
function(expect_success)
  if(NOT code EQUAL 0)
    fail("it fails")
  endif()
  expect_words(${ARGN})
endfunction()
function(expect_within limit)
  if(seconds GREATER limit)
    fail("it takes longer than ${limit} s")
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
# a toolkit and a driver, as far as they are asked before anything is compiled
function(toolkit version)
  list(JOIN ARGN " " known)
  program(nvcc "case $1 in
--version) echo 'Cuda compilation tools, release ${version}, V${version}.1';;
--list-gpu-arch) printf 'compute_%s\\n' ${known};;
*) exit 1;;
esac")
endfunction()
function(gpu capability cuda)
  if(NOT ARGN)
    set(ARGN "CUDA Version:")
  endif()
  program(nvidia-smi "case $1 in
--query-gpu=*) printf '%b\\n' '${capability}';;
*) echo '| NVIDIA-SMI 1.2   Driver Version: 1.2   ${ARGN} ${cuda}     |';;
esac")
endfunction()
set(stand_in_for_toolkit "include(${SOURCE}/cmake/Toolkit.cmake)
list(JOIN CMAKE_CUDA_ARCHITECTURES \" \" list)
message(STATUS \"for \${list}.\")")
set(fake_nvcc -D CMAKE_CUDA_COMPILER=${SCRATCH}/bin/nvcc)

if(CASE STREQUAL no_apt)
  network_at(${refusing})
  configure(${SOURCE} ${not_installed} -D RECHECK_APT_GET=OFF)
  expect_error(${what_to_do} "the distribution: not one with apt")
  expect_within(15)

elseif(CASE STREQUAL no_network)
  network_at(${refusing})
  configure(${SOURCE} ${not_installed})
  expect_error(${what_to_do})
  expect_within(15)

elseif(CASE STREQUAL hanging_network AND NOT PORT)
  # someone has to listen, and never answer
  find_program(PYTHON python3)
  if(NOT PYTHON)
    message("not measured: Python was not found")
    return()
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
  expect_error(${what_to_do} "archives: Timeout was reached")
  expect_within(45)  # for each way 15, and something for all the rest

elseif(CASE STREQUAL installed)
  write_config(${SCRATCH}/prefix)
  stand_in_for_dependencies(1.1 ${refusing} 0)
  configure(${SCRATCH}/stand_in -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix)
  expect_success("Fake 1.2: as installed")
  configure(${SCRATCH}/stand_in -D RECHECK_DEPENDENCIES=archive)
  expect_error("Fake 1.1 (libfake-dev, FETCHCONTENT_SOURCE_DIR_FAKE)" "distribution: not tried")

elseif(CASE STREQUAL distribution)
  cmake_host_system_information(RESULT os QUERY DISTRIB_INFO)
  find_program(DPKG_DEB dpkg-deb)
  if(NOT "${os_ID} ${os_ID_LIKE}" MATCHES "debian|ubuntu" OR NOT DPKG_DEB)
    message("not measured: this is no distribution with apt")
    return()
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
  expect_error("distribution: too old")
  file(READ ${SCRATCH}/log text)
  if(text MATCHES "download")
    fail("what is too old is downloaded")
  endif()
  file(STRINGS ${SCRATCH}/build/distribution/apt/sources.list sources)
  if(NOT sources MATCHES "^deb [^;]* http://a stable main[^;]*$")
    fail("another source than the distribution's own is asked: ${sources}")
  endif()
  stand_in_for_dependencies(1.2 ${refusing} 0)
  configure(${SCRATCH}/stand_in)
  expect_success("Fake 1.2: from the distribution's package")
  file(REMOVE ${SCRATCH}/log)
  configure(${SCRATCH}/stand_in)
  expect_success("Fake 1.2: from the distribution's package")
  if(EXISTS ${SCRATCH}/log)
    fail("it is fetched twice")
  endif()

elseif(CASE STREQUAL archive)
  file(WRITE ${SCRATCH}/fake/CMakeLists.txt "add_library(fake::fake INTERFACE IMPORTED GLOBAL)\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -E tar c v1.2.0.tar fake WORKING_DIRECTORY ${SCRATCH}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 ${SCRATCH}/v1.2.0.tar hash)
  set(only -D RECHECK_DEPENDENCIES=archive)
  stand_in_for_dependencies(1.1 file://${SCRATCH}/v1.2.0.tar 0)
  configure(${SCRATCH}/stand_in ${only})
  expect_error("v1.2.0.tar has another SHA-256")
  configure(${SCRATCH}/stand_in -D FETCHCONTENT_SOURCE_DIR_FAKE=${SCRATCH}/fake)
  expect_success("Fake: from ${SCRATCH}/fake")
  stand_in_for_dependencies(1.1 file://${SCRATCH}/v1.2.0.tar ${hash})
  configure(${SCRATCH}/stand_in ${only} -U FETCHCONTENT_SOURCE_DIR_FAKE)
  file(REMOVE ${SCRATCH}/v1.2.0.tar)
  configure(${SCRATCH}/stand_in ${only})
  expect_success("Fake 1.2.0: from the pinned archive")

elseif(CASE STREQUAL old_toolkit)
  toolkit(11.8 90)
  configure(${SOURCE} ${fake_nvcc})
  set(what_to_do "CUDA Toolkit 11.8 is too old: Recheck needs 12" "-DCMAKE_CUDA_COMPILER=OFF")
  expect_error(${what_to_do})
  file(REMOVE_RECURSE ${SCRATCH}/build)
  list(APPEND environment CUDACXX=${SCRATCH}/bin/nvcc)
  configure(${SOURCE})
  expect_error(${what_to_do})

elseif(CASE STREQUAL broken_toolkit)
  toolkit(13.0 90)
  list(APPEND environment CUDACXX=${SCRATCH}/bin/nvcc)
  stand_in("enable_language(CXX)\n${stand_in_for_toolkit}")
  configure(${SCRATCH}/stand_in)
  expect_error("nvcc does not work: exit code 1. " "set CUDAHOSTCXX" "-DCMAKE_CUDA_COMPILER=OFF")
  program(nvcc "case $1 in
--version) echo 'Cuda compilation tools, release 13.0, V13.0.1';;
*) echo 'In file included from x:'; echo '#error -- unsupported GNU version!' >&2; exit 1;;
esac")
  configure(${SCRATCH}/stand_in)
  expect_error("nvcc does not work: #error -- unsupported GNU version!. If that is the host compiler")

elseif(CASE STREQUAL old_driver)
  toolkit(13.0 75 80 90)
  gpu(9.0 12.8)
  stand_in("${stand_in_for_toolkit}")
  configure(${SCRATCH}/stand_in ${fake_nvcc})
  expect_one_line()
  expect_success("driver supports CUDA 12.8, older than the toolkit's 13.0: update the driver")
  gpu(9.0 13.1)
  configure(${SCRATCH}/stand_in ${fake_nvcc})
  expect_success()
  if(said)
    fail("a newer driver is warned of")
  endif()
  foreach(name "CUDA UMD Version:" "CUDA Driver Version :")
    gpu(9.0 12.8 ${name})
    configure(${SCRATCH}/stand_in ${fake_nvcc})
    expect_success("driver supports CUDA 12.8, older than the toolkit's 13.0")
  endforeach()
  gpu(9.0 12.8 "Something else:")
  configure(${SCRATCH}/stand_in ${fake_nvcc})
  expect_success("nvidia-smi does not say which CUDA the driver supports")

elseif(CASE STREQUAL architectures)
  stand_in("${stand_in_for_toolkit}")
  toolkit(13.0 75 80 86 89 90 100 120)
  program(nvidia-smi "exit 9")
  configure(${SCRATCH}/stand_in ${fake_nvcc})
  expect_success("for 75-virtual 90a-real.")
  gpu(8.9 13.0)
  configure(${SCRATCH}/stand_in ${fake_nvcc})
  expect_success("for 89-real.")
  gpu(9.0 13.0)
  configure(${SCRATCH}/stand_in ${fake_nvcc})
  expect_success("for 90a-real.")
  gpu("9.0\\n8.6\\n9.0" 13.0)
  configure(${SCRATCH}/stand_in ${fake_nvcc})
  expect_success("for 86-real 90a-real.")
  gpu("13.0\\n8.6" 13.0)
  configure(${SCRATCH}/stand_in ${fake_nvcc})
  expect_success("for 75-virtual 86-real.")
  gpu("[N/A]" 13.0)
  configure(${SCRATCH}/stand_in ${fake_nvcc})
  expect_success("nvidia-smi does not say which architectures" "for 75-virtual 90a-real.")
  configure(${SCRATCH}/stand_in ${fake_nvcc} -D RECHECK_ALL_ARCHITECTURES=ON)
  expect_success("for 75 80-real 86-real 89-real 90a-real 100-real 120.")
  toolkit(12.4 75 80 86 89 90)
  configure(${SCRATCH}/stand_in ${fake_nvcc})
  expect_success("for 75 80-real 86-real 89-real 90a-real 90-virtual.")
  configure(${SCRATCH}/stand_in ${fake_nvcc} -D CMAKE_CUDA_ARCHITECTURES=86)
  expect_success("for 86.")

elseif(CASE STREQUAL no_python)
  stand_in("set(recheck_reports ${SOURCE}/reports)
include(${SOURCE}/cmake/Python.cmake)
add_subdirectory(${SOURCE}/reports reports)")
  configure(${SCRATCH}/stand_in -D CMAKE_DISABLE_FIND_PACKAGE_Python3=ON)
  expect_one_line()
  expect_success("Python 3.11 or newer was not found: install it")
  run(${CMAKE_COMMAND} --build ${SCRATCH}/build --target report)
  if(code EQUAL 0)
    fail("a report without Python")
  endif()
  expect_words("Python 3.11 or newer was not found: install it")

elseif(CASE STREQUAL no_venv)
  # of two questions to Python, whether there are packages and whether there is venv, both are denied
  program(python3 "exit 1")
  stand_in("set(Python3_FOUND ON)
set(Python3_EXECUTABLE ${SCRATCH}/bin/python3)
set(recheck_reports ${SOURCE}/reports)
include(${SOURCE}/cmake/Python.cmake)
add_subdirectory(${SOURCE}/reports reports)")
  configure(${SCRATCH}/stand_in -D CMAKE_DISABLE_FIND_PACKAGE_Python3=ON)
  expect_one_line()
  expect_success("Python's venv was not found: install python3-venv")

elseif(CASE STREQUAL no_packages)
  find_program(PYTHON python3)
  execute_process(COMMAND ${PYTHON} -c "import ensurepip" RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message("not measured: Python or its venv was not found")
    return()
  endif()
  list(APPEND environment PIP_INDEX_URL=${refusing} PIP_FIND_LINKS= PIP_EXTRA_INDEX_URL=)
  run(${CMAKE_COMMAND} -D PYTHON=${PYTHON} -D FOLDER=${SCRATCH}/python
      -P ${SOURCE}/reports/packages.cmake)
  expect_error("packages cannot be fetched" "install what reports/requirements.txt lists")

elseif(CASE STREQUAL no_ninja)
  set(environment PATH=${SCRATCH}/bin)
  configure(${SOURCE} -D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF)
  expect_error("Ninja was not found: install ninja-build")

elseif(CASE STREQUAL full_disk)
  # a small file system of its own needs root, or a name space in which one is root
  set(mount mount -t tmpfs -o size=64m none ${SCRATCH}/small)
  file(MAKE_DIRECTORY ${SCRATCH}/small)
  execute_process(COMMAND unshare --mount --map-root-user ${mount} RESULT_VARIABLE failed
                  OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    message("not measured: a small file system needs root or user namespaces")
    return()
  endif()
  stand_in("include(${SOURCE}/cmake/Room.cmake)")
  list(JOIN mount " " mount)
  run(unshare --mount --map-root-user sh -c
      "${mount} && '${CMAKE_COMMAND}' -G Ninja -S ${SCRATCH}/stand_in -B ${SCRATCH}/small/build")
  expect_error("${SCRATCH}/small/build has" "MB of free disk" "make room")

elseif(CASE STREQUAL little_memory)
  stand_in("include(${SOURCE}/cmake/Room.cmake)")
  list(APPEND environment CMAKE_BUILD_PARALLEL_LEVEL=1000000)
  configure(${SCRATCH}/stand_in)
  expect_one_line()
  expect_success("MB of memory are free" "CMAKE_BUILD_PARALLEL_LEVEL=")

else()
  message(FATAL_ERROR "there is no case '${CASE}'")
endif()
