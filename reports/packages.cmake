# SPDX-License-Identifier: Apache-2.0
# cmake -D PYTHON=PROGRAM -D FOLDER=FOLDER -P packages.cmake
#
# Installs the renderer's Python packages, pinned, into a folder of their own.
execute_process(COMMAND ${PYTHON} -m venv --clear ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${FOLDER}/bin/python -m pip install --quiet --disable-pip-version-check --retries 1
          -r ${CMAKE_CURRENT_LIST_DIR}/requirements.txt
  RESULT_VARIABLE failed ERROR_VARIABLE said)
if(failed)
  string(REGEX REPLACE ".*\n([^\n]+)\n*$" "\\1" said "\n${said}")
  message(FATAL_ERROR " The renderer's Python packages cannot be fetched: see to the network, or install \
what reports/requirements.txt lists and configure again (${said})")
endif()
file(TOUCH ${FOLDER}/ready)
