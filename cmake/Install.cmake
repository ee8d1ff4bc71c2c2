# SPDX-License-Identifier: Apache-2.0
#
# Installs the package for find_package(recheck): the harness, its headers, the renderer, and the functions
# that make a program of experiments. Our own experiments and kernels are not installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/recheck)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/recheck)
set(reports ${CMAKE_INSTALL_DATADIR}/recheck/reports)
set(targets recheck_harness)
if(CMAKE_CUDA_COMPILER)
  list(APPEND targets recheck_harness_kernels)
endif()
install(TARGETS ${targets} EXPORT recheck)
install(EXPORT recheck NAMESPACE recheck:: FILE recheckTargets.cmake DESTINATION ${package})
# headers include each other by their paths in this tree
install(FILES experiments/README.md experiments/recheck.hpp DESTINATION ${headers}/experiments)
install(DIRECTORY experiments/harness DESTINATION ${headers}/experiments
        FILES_MATCHING PATTERN "*.hpp")
install(FILES kernels/code.hpp kernels/launch.hpp kernels/stream.hpp DESTINATION ${headers}/kernels)
install(FILES reference/error.hpp reference/host.hpp reference/matrix.hpp reference/parallel.hpp
        DESTINATION ${headers}/reference)
install(DIRECTORY reports/recheck_report DESTINATION ${reports} PATTERN __pycache__ EXCLUDE)
install(PROGRAMS reports/recheck-report DESTINATION ${reports})
install(FILES reports/README.md reports/pyproject.toml
        DESTINATION ${reports})

configure_package_config_file(cmake/recheckConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/recheckConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS headers reports)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/recheckConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/recheckConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/recheckConfigVersion.cmake
  cmake/Collection.cmake cmake/Dependencies.cmake cmake/FindPython.cmake cmake/Python.cmake cmake/build_info.cpp.in
  cmake/cubins.cmake cmake/git_info.cmake cmake/use.cmake
  DESTINATION ${package})
