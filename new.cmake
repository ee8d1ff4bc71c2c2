# SPDX-License-Identifier: Apache-2.0
# cmake -D NAME=my_article -P recheck/new.cmake
#
# Writes the folder NAME: a repository that builds, tests, measures and reports an article's claims,
# made from template/. Edit the lines marked EDIT.
cmake_policy(VERSION 3.25)
set(folder ${CMAKE_CURRENT_BINARY_DIR}/${NAME})
# targets of CMake and of libraries, and folders that Recheck makes in a build folder
set(taken machine audit article all benchmark benchmark_main clean cuda distribution edit_cache help install
    nlohmann_json package package_source preinstall pycache python rebuild_cache test)
string(LENGTH "${NAME}" length)
cmake_path(COMPARE "${CMAKE_CURRENT_LIST_DIR}" EQUAL "${CMAKE_CURRENT_BINARY_DIR}" within)
if("${NAME}" STREQUAL "")
  set(wrong "Which name? cmake -D NAME=my_article -P ${CMAKE_CURRENT_LIST_FILE}")
elseif(NOT NAME MATCHES "^[a-z][a-z0-9_]*$" OR length GREATER 40)
  set(wrong "'${NAME}' is not a valid name: use a-z, 0-9 and _, first a letter, 40 at most, as in my_article")
elseif(NAME IN_LIST taken OR NAME MATCHES "^recheck")
  set(wrong "Recheck or CMake uses the name '${NAME}': take another, such as my_${NAME}")
elseif(within)
  set(wrong "This is Recheck's own folder: run this in the folder that will contain ${NAME}")
elseif(EXISTS ${folder})
  set(wrong "${folder} exists: take another name, or remove it")
endif()
if(wrong)
  message(FATAL_ERROR " ${wrong}")
endif()

set(template ${CMAKE_CURRENT_LIST_DIR}/template)
file(GLOB_RECURSE files RELATIVE ${template} ${template}/*)
foreach(file IN LISTS files)
  string(REPLACE "claims/article/" "claims/${NAME}/" to ${file})
  configure_file(${template}/${file} ${folder}/${to} @ONLY)
endforeach()
file(WRITE ${folder}/.gitignore "/build/\n/CMakeUserPresets.json\n/compile_commands.json\n.cache/\n.idea/\n.vscode/\n")
# without git, or a name to commit under, the report says that no commit holds the measured tree
foreach(words init "add;." "commit;--message=Recheck's template")
  execute_process(COMMAND git -C ${folder} ${words} OUTPUT_QUIET ERROR_QUIET)
endforeach()
message(STATUS "${folder}: edit the lines marked EDIT. To measure it unchanged: "
        "cd ${NAME} && cmake --workflow --preset report")
