# SPDX-License-Identifier: Apache-2.0
#
# For other projects to include: enables CUDA if available, and adds Recheck from the clone or installation that
# contains this file.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/recheckConfig.cmake)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
  endif()
  find_package(recheck REQUIRED PATHS ${CMAKE_CURRENT_LIST_DIR} NO_DEFAULT_PATH)
else()
  set(recheck_problem "")
  include(${CMAKE_CURRENT_LIST_DIR}/Toolkit.cmake)
  if(recheck_problem)
    message(FATAL_ERROR " ${recheck_problem}")
  endif()
  if(recheck_cuda)
    enable_language(CUDA)
  endif()
  add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/.. recheck EXCLUDE_FROM_ALL)
endif()
