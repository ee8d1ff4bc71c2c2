# SPDX-License-Identifier: Apache-2.0
#
# For other projects to include: enables CUDA if available, and adds Recheck from the clone or installation that
# contains this file.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/recheckConfig.cmake)
  include(CheckLanguage)
  check_language(CUDA)
else()
  set(recheck_problem "")
  include(${CMAKE_CURRENT_LIST_DIR}/Toolkit.cmake)
  if(recheck_problem)
    message(FATAL_ERROR " ${recheck_problem}")
  endif()
endif()
if(recheck_cuda OR CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
endif()
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/recheckConfig.cmake)
  find_package(recheck REQUIRED PATHS ${CMAKE_CURRENT_LIST_DIR} NO_DEFAULT_PATH)
else()
  add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/.. recheck EXCLUDE_FROM_ALL)
endif()
