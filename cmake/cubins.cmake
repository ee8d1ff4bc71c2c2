# Writes SOURCE with the record's facts about the device code in each of OBJECTS. Runs right after the
# compilation.
# - Its checksum: the first 16 digits of the SHA-256 of nvcc's output, made with a seed and without
#   compression; null where UNKNOWN gives a reason. The same sources, compiler and flags give the same
#   digits in every folder.
# - Its compile options: the assembler's notes in it (NATIVE: the number of the only expected architecture),
#   the command in COMMANDS, which is CMake's compile_commands.json, and nvcc's flags from the environment.
cmake_policy(VERSION 3.25)

set(environment "")
foreach(variable NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS)
  if(NOT "$ENV{${variable}}" STREQUAL "")
    string(APPEND environment " ${variable}=$ENV{${variable}}")
  endif()
endforeach()
string(STRIP "${environment}" environment)

set(begins "(^|[ =,\"'])")
set(ends "($|[ ,\"'])")
foreach(kind checksums debug unoptimised fast_math relocatable foreign)
  set(${kind} "")
endforeach()
foreach(object IN LISTS OBJECTS)
  # kernels/CMakeFiles/recheck_kernels.dir/matmul/tile.cu.o, possibly in a configuration's folder
  if(NOT object MATCHES "[^/]+\\.dir/(.+\\.cu)\\.[^/]+$")
    continue()
  endif()
  set(output "${CMAKE_MATCH_0}")
  string(REGEX REPLACE "^((Debug|Release|RelWithDebInfo|MinSizeRel|\\.)/)+" "" file "${CMAKE_MATCH_1}")
  set(code "${SOURCE}.fatbin")
  file(WRITE "${code}" "")
  if(OBJCOPY)
    # relocatable device code has another section
    execute_process(COMMAND ${OBJCOPY} -O binary --only-section=.nv_fatbin --only-section=__nv_relfatbin
                            "${object}" "${code}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
  # ptxas notes "-O 0 -arch sm_90 -m 64"; fatbinary notes "-O0" for compiling the PTX
  file(STRINGS "${code}" options REGEX "(^| )(-g|(-O ?|--?opt-level[= ]?)[01])( |$)")
  file(STRINGS "${code}" relocation REGEX "(^| )(--compile-only|-arch .* -c)( |$)" LIMIT_COUNT 1)
  file(STRINGS "${code}" architectures REGEX "(^| )-arch sm_[0-9]")
  if(NOT UNKNOWN)
    file(READ "${code}" content HEX)
    if(content STREQUAL "")
      set(UNKNOWN "not measured: no device code was found in ${file}")
    endif()
    # names without linkage contain a checksum of the source's path, which is not part of the code:
    # _GLOBAL__N__95560cce_7_copy_cu_10b50f37, or __nv_static_23__95560cce_7_copy_cu__Z4copyPf
    set(digits "[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]")
    file(STRINGS "${code}" names REGEX "_${digits}_[0-9]+_[A-Za-z0-9_]+_cu_" LIMIT_COUNT 1)
    if(names MATCHES "_(${digits})_[0-9]+_[A-Za-z0-9_]+_cu_")
      string(HEX "${CMAKE_MATCH_1}" path)
      string(REPLACE ${path} 3030303030303030 content "${content}")
    endif()
    string(SHA256 hash "${content}")
    string(SUBSTRING ${hash} 0 16 hash)
    list(APPEND checksums "\"${file}\": \"${hash}\"")
  endif()
  file(REMOVE "${code}")

  set(command "")
  if(EXISTS "${COMMANDS}")
    file(STRINGS "${COMMANDS}" command REGEX " -o [^ ]*${output}\",?$" LIMIT_COUNT 1)
  endif()
  string(REPLACE "\\" "" command "${command} ${environment}")
  if(options MATCHES "(^|[ ;])-g($|[ ;])" OR command MATCHES "${begins}(-G|--device-debug)${ends}")
    list(APPEND debug ${file})
  elseif(options OR command MATCHES "${begins}(--Ofast-compile|-Ofc)[= ]m"
         OR command MATCHES "${begins}-Xcicc[= ]+-O[01]${ends}")
    list(APPEND unoptimised ${file})
  endif()
  if(command MATCHES "${begins}(--?use_fast_math|-ffast-math|-Ofast|--?ftz[= ]true|--?prec-(div|sqrt)[= ]false)${ends}")
    list(APPEND fast_math ${file})
  endif()
  # some listings are relocatable on purpose
  if(NOT file MATCHES "_relocatable\\.cu$" AND
     (relocation OR command MATCHES "${begins}(-dc|--device-c|(-rdc|--relocatable-device-code)[= ]true)${ends}"))
    list(APPEND relocatable ${file})
  endif()
  # a compiler cache that does not know which GPU `native` is
  if(NATIVE AND architectures AND NOT architectures MATCHES "-arch sm_${NATIVE}[af ]")
    list(APPEND foreign ${file})
  endif()
endforeach()
foreach(kind checksums debug unoptimised fast_math relocatable foreign)
  list(SORT ${kind})
endforeach()
list(JOIN checksums ",\n" json)
if(UNKNOWN)
  set(json null)
else()
  set(json "{${json}}")
endif()
foreach(text UNKNOWN environment)
  string(REGEX REPLACE [[(["\\])]] [[\\\1]] ${text} "${${text}}")
endforeach()
file(CONFIGURE OUTPUT "${SOURCE}" CONTENT [[
// made by cubins.cmake
#include "experiments/harness/base/build_info.hpp"

namespace recheck::build {
const char* const cubins = R"(@json@)";
const char* const cubins_unknown = "@UNKNOWN@";
const char* const nvcc_environment = "@environment@";
const char* const device_debug = "@debug@";
const char* const device_unoptimised = "@unoptimised@";
const char* const device_fast_math = "@fast_math@";
const char* const device_relocatable = "@relocatable@";
const char* const device_foreign = "@foreign@";
}  // namespace recheck::build
]] @ONLY)
