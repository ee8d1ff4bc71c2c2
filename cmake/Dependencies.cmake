# SPDX-License-Identifier: Apache-2.0
#
# Finds GoogleTest, Google Benchmark and nlohmann-json, each in the first way that works: installed;
# the distribution's package, fetched without root and unpacked into the build folder; the pinned
# archive. A way that does not work costs at most 15 seconds and prints nothing.
find_program(RECHECK_APT_GET apt-get)
mark_as_advanced(RECHECK_APT_GET)
include(FetchContent)
set(unpacked ${CMAKE_BINARY_DIR}/distribution)
set(apt ${unpacked}/apt)
set(missing "")

# Fetches apt's lists into the build folder. If that fails, the global property has the reason.
function(recheck_open_distribution)
  set_property(GLOBAL PROPERTY RECHECK_DISTRIBUTION "not one with apt")
  if(NOT RECHECK_APT_GET)
    return()
  endif()
  file(REMOVE_RECURSE ${apt})
  file(MAKE_DIRECTORY ${apt}/lists/partial ${apt}/archives/partial)
  # the system's update hooks apply only to its own lists
  file(WRITE ${apt}/conf "\
Dir::State::Lists \"${apt}/lists\";
Dir::Cache \"${apt}\";
Dir::Cache::pkgcache \"pkgcache.bin\";
Acquire::Languages \"none\";
Acquire::Retries \"0\";
Acquire::http::Timeout \"10\";
Acquire::https::Timeout \"10\";
APT::Sandbox::User \"root\";
#clear APT::Update;
")
  # first the short tables of contents: if one arrives, the lists may take longer
  file(WRITE ${apt}/contents "#clear Acquire::IndexTargets;\n")
  execute_process(COMMAND ${RECHECK_APT_GET} -c ${apt}/conf -c ${apt}/contents update
                  OUTPUT_QUIET ERROR_QUIET TIMEOUT 15)
  file(GLOB answers ${apt}/lists/*_InRelease)
  if(NOT answers)
    set_property(GLOBAL PROPERTY RECHECK_DISTRIBUTION "no answer")
    return()
  endif()
  execute_process(COMMAND ${RECHECK_APT_GET} -c ${apt}/conf update OUTPUT_QUIET ERROR_QUIET TIMEOUT 600)
  set_property(GLOBAL PROPERTY RECHECK_DISTRIBUTION "")
endfunction()

# Unpacks a package of the distribution and its shared library, unless that is done or the package is
# too old.
function(recheck_unpack package version)
  if(EXISTS ${unpacked}/${package})
    return()
  endif()
  get_property(known GLOBAL PROPERTY RECHECK_DISTRIBUTION SET)
  if(NOT known)
    recheck_open_distribution()
  endif()
  get_property(closed GLOBAL PROPERTY RECHECK_DISTRIBUTION)
  if(closed)
    return()
  endif()
  execute_process(COMMAND apt-cache -c ${apt}/conf show --no-all-versions ${package}
                  OUTPUT_VARIABLE about ERROR_QUIET TIMEOUT 60)
  if(NOT about MATCHES "\nVersion: ([0-9]+:)?([0-9.]+)" OR CMAKE_MATCH_2 VERSION_LESS version)
    set_property(GLOBAL PROPERTY RECHECK_DISTRIBUTION "too old or without it")
    return()
  endif()
  string(REGEX MATCH "\nDepends: [^\n]+" depends "${about}")
  string(REGEX MATCHALL "lib[^ ,]+ \\(= " libraries "${depends}")
  list(TRANSFORM libraries REPLACE " .*" "")
  file(MAKE_DIRECTORY ${apt}/${package})
  execute_process(COMMAND ${RECHECK_APT_GET} -c ${apt}/conf download ${package} ${libraries}
                  WORKING_DIRECTORY ${apt}/${package}
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET TIMEOUT 600)
  file(GLOB archives ${apt}/${package}/*.deb)
  foreach(archive ${archives})
    if(NOT failed)
      execute_process(COMMAND dpkg-deb -x ${archive} ${unpacked}
                      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    endif()
  endforeach()
  if(failed)
    set_property(GLOBAL PROPERTY RECHECK_DISTRIBUTION "no answer")
  else()
    file(TOUCH ${unpacked}/${package})
  endif()
endfunction()

# Fetches an archive unless it exists. If that fails, the global property has the reason.
function(recheck_download archive url hash)
  get_property(closed GLOBAL PROPERTY RECHECK_ARCHIVE)
  if(EXISTS ${archive} OR closed)
    return()
  endif()
  # one byte first, because INACTIVITY_TIMEOUT does not cover the connection phase
  file(DOWNLOAD ${url} RANGE_START 0 RANGE_END 0 STATUS status TIMEOUT 15)
  list(POP_FRONT status code closed)
  if(code EQUAL 0)
    file(DOWNLOAD ${url} ${archive}.part STATUS status INACTIVITY_TIMEOUT 15)
    list(POP_FRONT status code closed)
  endif()
  if(code EQUAL 0)
    file(SHA256 ${archive}.part got)
    if(got STREQUAL hash)
      file(RENAME ${archive}.part ${archive})
      return()
    endif()
    set(closed "${url} has another SHA-256")
  endif()
  file(REMOVE ${archive}.part)
  string(REPLACE "\"" "" closed "${closed}")
  set_property(GLOBAL PROPERTY RECHECK_ARCHIVE "${closed}")
endfunction()

# for each CMake package: its full name, the oldest version, the distribution's package, the archive
# and its SHA-256
set(pin_GTest GoogleTest 1.12 libgtest-dev
  https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz
  8ad598c73ad796e0d8280b082cebd82a630d73e73cd3c70057938a6501bba5d7)
set(pin_benchmark "Google Benchmark" 1.7 libbenchmark-dev
  https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz
  6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce)
set(pin_nlohmann_json nlohmann-json 3.11 nlohmann-json3-dev
  https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
  d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d)

# Finds the CMake package `name`. recheck_problem says how to install all packages that could not be
# found.
function(recheck_dependency name)
  foreach(field title version debian url hash)
    list(POP_FRONT pin_${name} ${field})
  endforeach()
  string(TOUPPER FETCHCONTENT_SOURCE_DIR_${name} source)
  if(NOT ${source})
    find_package(${name} ${version} CONFIG QUIET)
    set(from "as installed")
    if(NOT ${name}_FOUND)
      recheck_unpack(${debian} ${version})
      find_package(${name} ${version} CONFIG QUIET PATHS ${unpacked}/usr NO_DEFAULT_PATH)
      unset(${name}_DIR CACHE)  # else the next run takes it for installed
      set(from "from the distribution's package")
    endif()
  endif()
  if(NOT ${name}_FOUND)
    cmake_path(GET url FILENAME archive)
    set(archive ${CMAKE_BINARY_DIR}/_deps/${name}-${archive})
    if(${source})
      set(from "from ${${source}}")
    else()
      recheck_download(${archive} ${url} ${hash})
      string(REGEX MATCH "[0-9]+\\.[0-9.]+[0-9]" ${name}_VERSION ${url})
      set(from "from the pinned archive")
    endif()
    if(${source} OR EXISTS ${archive})
      set(BENCHMARK_ENABLE_TESTING OFF)
      set(BENCHMARK_ENABLE_WERROR OFF)
      set(INSTALL_GTEST OFF)
      FetchContent_Declare(${name} URL ${archive} URL_HASH SHA256=${hash} DOWNLOAD_EXTRACT_TIMESTAMP ON)
      FetchContent_MakeAvailable(${name})
      set(${name}_FOUND TRUE)
    endif()
  endif()
  if(${name}_FOUND)
    string(STRIP "${title} ${${name}_VERSION}" title)
    message(STATUS "${title}: ${from}")
    return()
  endif()
  list(APPEND missing "${title} ${version} (${debian}, ${source})")
  get_property(distribution GLOBAL PROPERTY RECHECK_DISTRIBUTION)
  get_property(archive GLOBAL PROPERTY RECHECK_ARCHIVE)
  list(JOIN missing ", " text)
  set(recheck_problem "Not found: ${text}. Install these packages, or set CMAKE_PREFIX_PATH to where \
they are installed, or these variables to their sources (the distribution: ${distribution}; the \
archives: ${archive})" PARENT_SCOPE)
  set(missing ${missing} PARENT_SCOPE)
endfunction()
