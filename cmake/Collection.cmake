# SPDX-License-Identifier: Apache-2.0
#
# What makes a program of experiments out of a library of kernels and tables: Recheck's own, and that of
# whoever uses Recheck. Whoever includes this has set recheck_version, recheck_headers and recheck_reports,
# the folders that hold the headers and the renderer.
set(recheck_cmake ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")

# Says to the C++ and CUDA code of a target whether there is CUDA, and for which GPUs device code is made.
function(recheck_define_code target scope)
  if(CMAKE_CUDA_COMPILER)
    list(JOIN CMAKE_CUDA_ARCHITECTURES "," architectures)
    target_compile_definitions(${target} ${scope} RECHECK_HAVE_CUDA
      RECHECK_ARCHITECTURES="${architectures}"
      # Hopper's own instructions are in no code for plain 90
      $<$<BOOL:$<FILTER:${CMAKE_CUDA_ARCHITECTURES},INCLUDE,^90a>>:RECHECK_HAVE_SM90A>)
  endif()
endfunction()

# Makes <name>_build_info, an object library with what the record says of the build: compilers and flags,
# the commit of this source tree, and checksums of the device code in the libraries KERNELS.
function(recheck_build_info name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" KERNELS)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_build_info)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  set(nvcc "")
  set(device_debug false)
  if(CMAKE_CUDA_COMPILER)
    set(nvcc "${CMAKE_CUDA_COMPILER_VERSION}")
    if("${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${build_type}}" MATCHES "(^| )(-G|--device-debug)( |$)")
      set(device_debug true)
    endif()
  endif()
  set(cxx_flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
  string(STRIP "${cxx_flags} ${CMAKE_CXX20_EXTENSION_COMPILE_OPTION}" cxx_flags)
  string(STRIP "${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${build_type}} -std=c++20" cuda_flags)
  # what the word native stood for when CMake looked
  set(architectures "${CMAKE_CUDA_ARCHITECTURES}")
  if(architectures STREQUAL native AND CMAKE_CUDA_ARCHITECTURES_NATIVE)
    set(architectures "${CMAKE_CUDA_ARCHITECTURES_NATIVE}")
  endif()
  set(blas "")
  if(BLAS_LIBRARIES)
    list(GET BLAS_LIBRARIES 0 blas)
  endif()
  # they become string literals, and flags may hold quotes and backslashes
  foreach(text cxx_flags cuda_flags blas)
    string(REGEX REPLACE [[(["\\])]] [[\\\1]] ${text} "${${text}}")
  endforeach()
  set(headers ${recheck_headers})
  configure_file(${recheck_cmake}/build_info.cpp.in ${folder}/build_info.cpp)

  # the commit is asked for at each build, the file touched only when the answer changes
  add_custom_target(${name}_git_info
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D BUILD=${PROJECT_BINARY_DIR}
            -D HEADERS=${recheck_headers} -D OUTPUT=${folder}/git_info.cpp -P ${recheck_cmake}/git_info.cmake
    BYPRODUCTS ${folder}/git_info.cpp
    COMMENT "")

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
    else()
      foreach(library ${arg_KERNELS})
        # the names of kernels hold the time and a checksum of the source's path: give a seed instead of
        # the one, and leave the other where the script finds it
        get_target_property(sources ${library} SOURCES)
        get_target_property(where ${library} SOURCE_DIR)
        list(FILTER sources INCLUDE REGEX "\\.cu$")
        foreach(source ${sources})
          set_property(SOURCE ${where}/${source} TARGET_DIRECTORY ${library}
                       APPEND PROPERTY COMPILE_OPTIONS
                       "$<$<COMPILE_LANGUAGE:CUDA>:-frandom-seed=${source};-no-compress>")
        endforeach()
        list(APPEND objects ${library} $<TARGET_OBJECTS:${library}>)
      endforeach()
    endif()
  endif()
  add_custom_command(OUTPUT ${folder}/cubins.cpp
    COMMAND ${CMAKE_COMMAND} -D OBJCOPY=${CMAKE_OBJCOPY} -D "OBJECTS=${objects}"
            -D "UNKNOWN=${unknown}" -D HEADERS=${recheck_headers} -D SOURCE=${folder}/cubins.cpp
            -P ${recheck_cmake}/cubins.cmake
    DEPENDS ${recheck_cmake}/cubins.cmake ${objects}
    COMMENT "Checksums of the device code"
    VERBATIM)
  add_library(${name}_build_info OBJECT
    ${folder}/build_info.cpp ${folder}/git_info.cpp ${folder}/cubins.cpp)
  add_dependencies(${name}_build_info ${name}_git_info)
endfunction()

# recheck_add_experiments(<name> SOURCES <file>... CLAIMS <folder>)
#
# A program of experiments: tables and kernels, and a main that calls recheck::main. Without CUDA its .cu
# files are left out, and the GPU rows say so. It gets
#   <name>           the program; <name> --help says what it does
#   <name>.gate      a test for CTest: every row proves itself at its experiment's awkward shapes
#   <name>_report    a target that measures the full matrix and renders <name>_report in the build folder,
#                    and <name>_report.zip, the same as one file
#   <name>_probes    the first part of that: counters of Nsight Compute, as far as CLAIMS ask for any
#   <name>_render    the last part: renders what was measured last
# CLAIMS holds sources.toml and <experiment>/claims.toml, by which the report judges.
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
    message(WARNING " Nothing is optimised, so times will say nothing: configure with -DCMAKE_BUILD_TYPE=Release")
  endif()
  set(kernels ${arg_SOURCES})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  list(FILTER arg_SOURCES EXCLUDE REGEX "\\.cu$")
  if(kernels AND CMAKE_CUDA_COMPILER)
    add_library(${name}_kernels STATIC ${kernels})
    # CMake 3.25 does not know that nvcc speaks C++20
    target_compile_options(${name}_kernels PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    target_link_libraries(${name}_kernels PUBLIC recheck::harness)
    recheck_build_info(${name} KERNELS ${name}_kernels)
  else()
    recheck_build_info(${name})
  endif()
  add_executable(${name} ${arg_SOURCES} $<TARGET_OBJECTS:${name}_build_info>)
  if(TARGET ${name}_kernels)
    target_link_libraries(${name} PRIVATE ${name}_kernels)
  endif()
  target_link_libraries(${name} PRIVATE recheck::harness)
  recheck_define_code(${name} PRIVATE)

  add_test(NAME ${name}.gate COMMAND ${name} --gate)
  set_tests_properties(${name}.gate PROPERTIES SKIP_RETURN_CODE 77)

  set(measured ${CMAKE_CURRENT_BINARY_DIR}/${name}_measured)
  set(without_python ${CMAKE_COMMAND} -E echo "${RECHECK_NO_PYTHON}" COMMAND ${CMAKE_COMMAND} -E false)
  set(collect ${without_python})
  set(render ${without_python})
  if(NOT RECHECK_NO_PYTHON)
    find_program(NCU ncu HINTS ${CUDAToolkit_BIN_DIR})
    find_program(COMPUTE_SANITIZER compute-sanitizer HINTS ${CUDAToolkit_BIN_DIR})
    set(program ${RECHECK_PYTHON} -m recheck_report)
    set(collect ${program} collect $<TARGET_FILE:${name}> --experiments ${arg_CLAIMS}
                --ncu "${NCU}" --sanitizer "${COMPUTE_SANITIZER}" --nvcc "${CMAKE_CUDA_COMPILER}"
                --output ${measured}/probes.json)
    set(render ${program} render ${measured} --experiments ${arg_CLAIMS}
               --output ${CMAKE_CURRENT_BINARY_DIR}/${name}_report
               --bundle ${CMAKE_CURRENT_BINARY_DIR}/${name}_report.zip)
  endif()
  # Nsight Compute slows everything down, so it is through before measuring begins
  add_custom_target(${name}_report
    COMMAND ${collect}
    COMMAND ${name} --output=${measured}
    COMMAND ${render}
    DEPENDS ${name}
    COMMENT "Measuring the full matrix and rendering ${name}_report"
    USES_TERMINAL VERBATIM)
  add_custom_target(${name}_probes COMMAND ${collect} DEPENDS ${name} USES_TERMINAL VERBATIM)
  add_custom_target(${name}_render COMMAND ${render} USES_TERMINAL VERBATIM)
  if(TARGET recheck_python_packages)
    foreach(target report probes render)
      add_dependencies(${name}_${target} recheck_python_packages)
    endforeach()
  endif()
endfunction()
