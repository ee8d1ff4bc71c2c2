# SPDX-License-Identifier: Apache-2.0
#
# Python, which renders. Its packages are used as found, else installed into the build folder, pinned, by
# the target recheck_python_packages. RECHECK_PYTHON runs it, and finds the package of the renderer, which is in
# recheck_reports: ${RECHECK_PYTHON} -m recheck_report. A person calls the script recheck-report in the build
# folder. Where there is no Python, RECHECK_NO_PYTHON says why.
set(no_python "")
# variables that users set for other Python programs would make ours fail, or change what they do
set(python_settings PYTHONDONTWRITEBYTECODE=1 PYTHONSAFEPATH=1 PYTHONUTF8=1)
foreach(name PYTHONHOME PYTHONPLATLIBDIR PYTHONSTARTUP PYTHONOPTIMIZE PYTHONWARNINGS PYTHONINSPECT PYTHONIOENCODING PYTHONVERBOSE PYTHONDEVMODE
        PYTHONPROFILEIMPORTTIME MPLBACKEND MATPLOTLIBRC)
  list(PREPEND python_settings --unset=${name})
endforeach()
# to be there is not enough: one that was built for another NumPy cannot be imported
set(check "import jinja2, matplotlib.figure, numpy, pytest")
unset(ENV{PYTHONHOME})
find_package(Python3 3.11 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  set(no_python "Python 3.11 or newer was not found: install it and configure again")
else()
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${python_settings} ${Python3_EXECUTABLE} -c "${check}"
                  RESULT_VARIABLE packages_missing OUTPUT_QUIET ERROR_QUIET)
  # Debian has it in a package of its own
  execute_process(COMMAND ${Python3_EXECUTABLE} -I -c "import ensurepip" RESULT_VARIABLE no_venv ERROR_QUIET)
  if(packages_missing AND no_venv)
    set(no_python "Python's venv was not found: install python3-venv and configure again")
  endif()
endif()
set(RECHECK_NO_PYTHON "${no_python}" CACHE INTERNAL "")
if(RECHECK_NO_PYTHON)
  message(WARNING " ${RECHECK_NO_PYTHON}. Measuring works without it; rendering and its tests do not.")
  return()
endif()
if(packages_missing)
  set(python ${CMAKE_BINARY_DIR}/python/bin/python)
  # what the user's PYTHONPATH has would come before the packages that are installed here
  set(python_path "PYTHONPATH=${recheck_reports}")
  set(python_path_rest "")
  add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/python/ready
    COMMAND ${CMAKE_COMMAND} -E env ${python_settings} ${CMAKE_COMMAND} -D PYTHON=${Python3_EXECUTABLE}
            -D FOLDER=${CMAKE_BINARY_DIR}/python -D "CHECK=${check}" -P ${recheck_reports}/packages.cmake
    DEPENDS ${recheck_reports}/packages.cmake ${recheck_reports}/requirements.txt
    COMMENT "Installing the renderer's Python packages into ${CMAKE_BINARY_DIR}/python"
    VERBATIM)
  add_custom_target(recheck_python_packages ALL DEPENDS ${CMAKE_BINARY_DIR}/python/ready)
else()
  set(python ${Python3_EXECUTABLE})
  set(python_path --modify "PYTHONPATH=path_list_prepend:${recheck_reports}")
  set(python_path_rest [[${PYTHONPATH:+:$PYTHONPATH}]])
  add_custom_target(recheck_python_packages)
endif()
set(RECHECK_PYTHON
  ${CMAKE_COMMAND} -E env ${python_settings} ${python_path} ${python} CACHE INTERNAL "")
list(JOIN python_settings " " python_settings_quoted)
# within the script's quotes
foreach(text python recheck_reports CMAKE_BINARY_DIR)
  string(REPLACE "'" "'\\''" ${text}_quoted "${${text}}")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/recheck-report @ONLY CONTENT [=[
#!/bin/sh
# recheck-report, with the Python and the packages of this build
python='@python_quoted@'
if ! command -v "$python" >/dev/null; then
  echo "error: its packages are missing: cmake --build '@CMAKE_BINARY_DIR_quoted@' --target recheck_python_packages" >&2
  exit 1
fi
exec env @python_settings_quoted@ PYTHONPATH='@recheck_reports_quoted@'@python_path_rest@ "$python" -m recheck_report "$@"
]=])
file(CHMOD ${CMAKE_BINARY_DIR}/recheck-report
     PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
