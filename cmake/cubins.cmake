# Writes SOURCE with the first 16 digits of the SHA-256 of the device code in each of OBJECTS, which
# nvcc made with a seed and without compression; null where UNKNOWN says why not. The same sources,
# compiler and flags give the same digits in every folder. HEADERS is where Recheck's headers are.
set(lines "")
foreach(object ${OBJECTS})
  # kernels/CMakeFiles/recheck_kernels.dir/matmul/tile.cu.o
  if(UNKNOWN OR NOT object MATCHES "\\.dir/(\\./)?(.+\\.cu)\\.")
    continue()
  endif()
  set(file ${CMAKE_MATCH_2})
  set(code ${SOURCE}.fatbin)
  execute_process(COMMAND ${OBJCOPY} -O binary --only-section=.nv_fatbin ${object} ${code}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${code} content HEX)
  # names without linkage hold a checksum of the source's path, which says nothing about the code:
  # _GLOBAL__N__95560cce_7_copy_cu_10b50f37
  set(digits "[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]")
  file(STRINGS ${code} names REGEX "_${digits}_[0-9]+_[A-Za-z0-9_]+_cu_${digits}" LIMIT_COUNT 1)
  if(names MATCHES "_(${digits})_[0-9]+_[A-Za-z0-9_]+_cu_${digits}")
    string(HEX "${CMAKE_MATCH_1}" path)
    string(REPLACE ${path} 3030303030303030 content "${content}")
  endif()
  file(REMOVE ${code})
  string(SHA256 hash "${content}")
  string(SUBSTRING ${hash} 0 16 hash)
  list(APPEND lines "\"${file}\": \"${hash}\"")
endforeach()
list(SORT lines)
list(JOIN lines ",\n" lines)
if(UNKNOWN)
  set(json null)
else()
  set(json "{${lines}}")
endif()
file(CONFIGURE OUTPUT ${SOURCE} CONTENT [[
// made by cubins.cmake
#include "@HEADERS@/experiments/harness/build_info.hpp"

const char* const recheck::build::cubins = R"(@json@)";
const char* const recheck::build::cubins_unknown = "@UNKNOWN@";
]] @ONLY)
