# SPDX-License-Identifier: Apache-2.0
#
# Python renders the report and needs no packages for it. RECHECK_REPORT is the recheck-report command; users
# call the script of this name in the build folder. If Python is missing, RECHECK_NO_PYTHON gives the reason.
include(${CMAKE_CURRENT_LIST_DIR}/FindPython.cmake)
set(RECHECK_NO_PYTHON "" CACHE INTERNAL "")
if(NOT Python3_FOUND)
  set(RECHECK_NO_PYTHON "Python 3.11 or newer was not found: install it and configure again" CACHE INTERNAL "")
  message(WARNING " ${RECHECK_NO_PYTHON}. Measuring works without it; rendering and its tests do not.")
  return()
endif()
# isolated from the user's variables, packages and start-up files
set(RECHECK_PYTHON ${Python3_EXECUTABLE} -I -X utf8 -X pycache_prefix=${CMAKE_BINARY_DIR}/pycache CACHE INTERNAL "")
set(RECHECK_REPORT ${RECHECK_PYTHON} -S ${recheck_reports}/recheck-report CACHE INTERNAL "")
set(words "")
foreach(word IN LISTS RECHECK_REPORT)
  string(REPLACE "'" "'\\''" word "${word}")
  string(APPEND words " '${word}'")
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/recheck-report "#!/bin/sh\nexec${words} \"$@\"\n")
file(CHMOD ${CMAKE_BINARY_DIR}/recheck-report
     PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
