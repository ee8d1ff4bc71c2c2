# SPDX-License-Identifier: Apache-2.0
#
# Functions that make a program of experiments from kernels and tables, for Recheck and for projects that use
# it. The including file must set recheck_version, and the folders of the headers and of the renderer in
# recheck_headers and recheck_reports.
set(recheck_cmake ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")
# both are optional, and run only with a GPU
find_program(NCU ncu HINTS ${CUDAToolkit_BIN_DIR})
find_program(COMPUTE_SANITIZER compute-sanitizer HINTS ${CUDAToolkit_BIN_DIR})

# Defines macros for the code of a target: whether CUDA is available, and the architectures of device code.
function(recheck_define_code target scope)
  if(CMAKE_CUDA_COMPILER)
    list(JOIN CMAKE_CUDA_ARCHITECTURES "," architectures)
    target_compile_definitions(${target} ${scope} RECHECK_HAVE_CUDA
      RECHECK_ARCHITECTURES="${architectures}"
      # code for plain 90 lacks Hopper's own instructions
      $<$<BOOL:$<FILTER:${CMAKE_CUDA_ARCHITECTURES},INCLUDE,^90a>>:RECHECK_HAVE_SM90A>)
  endif()
endfunction()

# Makes <name>_git_info, a target that runs in each build. It writes a file with this source tree's commit if
# that has changed.
function(recheck_git_info name file of)
  add_custom_target(${name}_git_info
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D BUILD=${PROJECT_BINARY_DIR} -D OF=${of}
            -D OUTPUT=${file} -P ${recheck_cmake}/git_info.cmake
    BYPRODUCTS ${file}
    COMMENT ""
    VERBATIM)
endfunction()

# Makes <name>_build_info, an object library with the record's facts about the build: compilers, the flags of
# the built configuration, the commit of this source tree, and, with CUDA, checksums and flags of the device code
# in the other arguments, libraries. It is compiled with the options of the target `options_of`, to report them.
function(recheck_build_info name options_of)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_build_info)
  # the meaning of native when CMake was configured
  set(architectures "${CMAKE_CUDA_ARCHITECTURES}")
  set(native "")
  if(architectures STREQUAL native AND CMAKE_CUDA_ARCHITECTURES_NATIVE)
    set(architectures "${CMAKE_CUDA_ARCHITECTURES_NATIVE}")
    string(REGEX MATCH "^[0-9]+" native "${architectures}")
  endif()
  list(POP_FRONT BLAS_LIBRARIES blas)
  # a file for each configuration of the generator, or one without a configuration
  foreach(type IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE ITEMS "")
    string(TOUPPER "${type}" upper)
    set(cxx_flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${upper}}")
    set(cuda_flags "${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${upper}}")
    string(STRIP "${cxx_flags} ${CMAKE_CXX20_EXTENSION_COMPILE_OPTION}" cxx_flags)
    string(STRIP "${cuda_flags} -std=c++20" cuda_flags)
    # they become string literals, and flags may hold quotes and backslashes
    foreach(text cxx_flags cuda_flags blas)
      string(REGEX REPLACE [[(["\\])]] [[\\\1]] ${text}_literal "${${text}}")
    endforeach()
    configure_file(${recheck_cmake}/build_info.cpp.in ${folder}/build_info_${type}.cpp)
  endforeach()

  recheck_git_info(${name} ${folder}/git_info.cpp git)

  set(unknown "")
  set(objects "")
  if(NOT CMAKE_CUDA_COMPILER)
    set(unknown "built without the CUDA Toolkit")
  else()
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --help OUTPUT_VARIABLE help ERROR_QUIET)
    if(NOT CMAKE_OBJCOPY)
      set(unknown "not measured: objcopy was not found when this was built")
    elseif(NOT help MATCHES "--no-compress" OR NOT help MATCHES "--frandom-seed")
      set(unknown "not measured: this nvcc does not make the same device code twice")
    endif()
    foreach(library ${ARGN})
      # kernel names contain the time, which a seed replaces, and a checksum of the source's path, which
      # the script removes
      get_target_property(kernels ${library} SOURCES)
      get_target_property(where ${library} SOURCE_DIR)
      list(FILTER kernels INCLUDE REGEX "\\.cu$")
      if(NOT unknown)
        foreach(source ${kernels})
          set_property(SOURCE ${where}/${source} TARGET_DIRECTORY ${library}
                       APPEND PROPERTY COMPILE_OPTIONS -frandom-seed=${source} -no-compress)
        endforeach()
      endif()
      set_target_properties(${library} PROPERTIES EXPORT_COMPILE_COMMANDS ON)
      list(APPEND objects ${library} $<TARGET_OBJECTS:${library}>)
    endforeach()
  endif()
  set(cubins ${folder}/cubins_$<CONFIG>.cpp)
  add_custom_command(OUTPUT ${cubins}
    COMMAND ${CMAKE_COMMAND} -D OBJCOPY=${CMAKE_OBJCOPY} -D "OBJECTS=${objects}"
            -D COMMANDS=${CMAKE_BINARY_DIR}/compile_commands.json -D "UNKNOWN=${unknown}" -D NATIVE=${native}
            -D SOURCE=${cubins} -P ${recheck_cmake}/cubins.cmake
    DEPENDS ${recheck_cmake}/cubins.cmake ${objects}
    COMMENT "Checksums of the device code"
    VERBATIM)
  add_library(${name}_build_info OBJECT
    ${folder}/build_info_$<CONFIG>.cpp ${folder}/git_info.cpp ${cubins})
  target_include_directories(${name}_build_info PRIVATE ${recheck_headers})
  target_compile_definitions(${name}_build_info PRIVATE RECHECK_CONFIGURATION="$<CONFIG>")
  target_compile_options(${name}_build_info PRIVATE $<TARGET_PROPERTY:${options_of},COMPILE_OPTIONS>)
  add_dependencies(${name}_build_info ${name}_git_info)
endfunction()

# recheck_add_experiments(<name> SOURCES <file>... CLAIMS <folder>)
#
# A program of experiments: tables and kernels, and a main that calls recheck::main. Without CUDA its .cu
# files are left out, and the GPU rows report why. This makes
#   <name>           the program; see <name> --help
#   <name>.gate      a CTest test: every row must be correct at its experiment's awkward shapes
#   <name>.claims    a CTest test: CLAIMS are well-formed, and everything that they name exists
#   <name>_report    a target: measures the cases that decide CLAIMS, renders <name>_report in the build folder,
#                    measures the rest of the matrix and renders again; also packs <name>_report.zip
#   <name>_quick     a target: only the cases that decide CLAIMS, in <name>_quick
#   <name>_render    a target: renders the last record of <name>_report
# CLAIMS holds sources.toml and <experiment>/claims.toml for the report. RECHECK_RUN_FLAGS are flags
# of the program for <name>_report and <name>_quick. In SOURCES, the macro ARTICLE_FOLDER is the current source folder.
function(recheck_add_experiments name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CLAIMS" "SOURCES")
  if(NOT arg_SOURCES OR NOT arg_CLAIMS OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR " recheck_add_experiments(${name}): needs SOURCES and CLAIMS, and takes nothing else")
  endif()
  cmake_path(ABSOLUTE_PATH arg_CLAIMS)
  if(NOT EXISTS ${arg_CLAIMS}/sources.toml)
    message(FATAL_ERROR " recheck_add_experiments(${name}): CLAIMS has no sources.toml: ${arg_CLAIMS}")
  endif()
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    message(WARNING " Nothing is optimized, so times will be meaningless: configure with -DCMAKE_BUILD_TYPE=Release")
  endif()
  set(kernels ${arg_SOURCES})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  list(FILTER arg_SOURCES EXCLUDE REGEX "\\.cu$")
  set(library "")
  if(kernels AND CMAKE_CUDA_COMPILER)
    set(library ${name}_kernels)
    add_library(${library} STATIC ${kernels})
    # CMake 3.25 does not know that nvcc speaks C++20
    target_compile_options(${library} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    target_link_libraries(${library} PUBLIC recheck::harness)
  endif()
  recheck_build_info(${name} ${name} ${library})
  add_executable(${name} ${arg_SOURCES} $<TARGET_OBJECTS:${name}_build_info>)
  target_link_libraries(${name} PRIVATE ${library} recheck::harness)
  recheck_define_code(${name} PRIVATE)
  target_compile_definitions(${name} PRIVATE ARTICLE_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")

  add_test(NAME ${name}.gate COMMAND ${name} --gate)
  set_tests_properties(${name}.gate PROPERTIES SKIP_RETURN_CODE 77)

  if(RECHECK_NO_PYTHON)
    foreach(target report quick render)
      add_custom_target(${name}_${target}
        COMMAND ${CMAKE_COMMAND} -E echo "${RECHECK_NO_PYTHON}" COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
    endforeach()
    return()
  endif()
  add_test(NAME ${name}.claims COMMAND ${RECHECK_REPORT} collect $<TARGET_FILE:${name}> --experiments ${arg_CLAIMS})

  separate_arguments(flags UNIX_COMMAND "${RECHECK_RUN_FLAGS}")
  set(own ${CMAKE_CURRENT_BINARY_DIR}/${name})
  set(measure ${RECHECK_REPORT} measure $<TARGET_FILE:${name}> --experiments ${arg_CLAIMS}
              --ncu "${NCU}" --sanitizer "${COMPUTE_SANITIZER}" --nvcc "${CMAKE_CUDA_COMPILER}")
  add_custom_target(${name}_report
    COMMAND ${measure} --measured ${own}_measured --report ${own}_report --bundle ${own}_report.zip --flags ${flags}
    DEPENDS ${name}
    COMMENT "Measuring the full matrix and rendering ${name}_report"
    USES_TERMINAL VERBATIM)
  add_custom_target(${name}_quick
    COMMAND ${measure} --quick --measured ${own}_quick_measured --report ${own}_quick --bundle ${own}_quick.zip
            --flags ${flags}
    DEPENDS ${name}
    COMMENT "Measuring what decides the claims and rendering ${name}_quick"
    USES_TERMINAL VERBATIM)
  add_custom_target(${name}_render
    COMMAND ${RECHECK_REPORT} render ${own}_measured --experiments ${arg_CLAIMS} --output ${own}_report
            --bundle ${own}_report.zip
    USES_TERMINAL VERBATIM)
endfunction()
