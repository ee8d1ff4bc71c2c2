# SPDX-License-Identifier: Apache-2.0
# cmake -D PYTHON=PROGRAM -D FOLDER=FOLDER [-D REQUIREMENTS=FILE] -P packages.cmake
#
# Installs Python packages, pinned, into a folder of their own: those of FILE, else the renderer's.
set(remedy "see to the network; ${REQUIREMENTS} lists them")
if(NOT REQUIREMENTS)
  set(REQUIREMENTS ${CMAKE_CURRENT_LIST_DIR}/requirements.txt)
  set(remedy "see to the network, or install what reports/requirements.txt lists and configure again")
endif()
execute_process(COMMAND ${PYTHON} -m venv --clear ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${FOLDER}/bin/python -m pip install --quiet --disable-pip-version-check --retries 1
          -r ${REQUIREMENTS}
  RESULT_VARIABLE failed ERROR_VARIABLE said)
if(failed)
  string(REGEX REPLACE ".*\n([^\n]+)\n*$" "\\1" said "\n${said}")
  message(FATAL_ERROR " Python packages cannot be fetched: ${remedy} (${said})")
endif()
file(TOUCH ${FOLDER}/ready)
