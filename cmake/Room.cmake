# SPDX-License-Identifier: Apache-2.0
#
# Whether the build folder's disk and this machine's memory are enough for a build, as far as that can
# be told before it begins. Leaves in recheck_problem what has to be done first, if anything.

# MB: 310 with the tests and the renderer's Python packages, 390 with all architectures; the rest is for
# reports
set(needed 500)
execute_process(COMMAND df -Pk "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE df ERROR_QUIET)
execute_process(COMMAND du -sk --exclude=cuda "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE du ERROR_QUIET)
if(df MATCHES " ([0-9]+) +[0-9]+% " AND du MATCHES "^([0-9]+)")
  string(REGEX MATCH " ([0-9]+) +[0-9]+% " free "${df}")
  math(EXPR free "${CMAKE_MATCH_1} / 1024")
  string(REGEX MATCH "^[0-9]+" there "${du}")
  math(EXPR needed "${needed} - ${there} / 1024")
  math(EXPR disk_left "${free} - ${needed}")
  if(free LESS needed)
    set(recheck_problem "${CMAKE_BINARY_DIR} has ${free} MB of free disk, and the build takes up to \
${needed} MB: make room, or choose another folder with cmake -B")
  endif()
endif()

# MB of the largest compilation, and how many Ninja runs at a time
set(needed 500)
cmake_host_system_information(RESULT free QUERY AVAILABLE_PHYSICAL_MEMORY)
# a job or a container has a limit: the lowest of this process's control group and all groups around it, of
# version 2 or 1
set(groups ":memory:/\n0::/\n")
if(EXISTS /proc/self/cgroup)
  file(READ /proc/self/cgroup groups)
endif()
string(REGEX MATCHALL "(:[a-z,]*memory[a-z,]*|0:):/[^\n]*" groups "${groups}")
foreach(group IN LISTS groups)
  string(REGEX MATCH "/.*" folder "${group}")
  while(TRUE)
    foreach(file /sys/fs/cgroup${folder}/memory.max /sys/fs/cgroup/memory${folder}/memory.limit_in_bytes)
      if(EXISTS ${file})
        file(READ ${file} limit LIMIT 20)
        if(limit MATCHES "^[0-9]+")
          math(EXPR limit "${CMAKE_MATCH_0} / 1048576")
          if(limit LESS free)
            set(free ${limit})
          endif()
        endif()
      endif()
    endforeach()
    if(folder STREQUAL "" OR folder STREQUAL "/")
      break()
    endif()
    cmake_path(GET folder PARENT_PATH folder)
  endwhile()
endforeach()
cmake_host_system_information(RESULT jobs QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR jobs "${jobs} + 2")
if("$ENV{CMAKE_BUILD_PARALLEL_LEVEL}" MATCHES "^[1-9][0-9]*$")
  set(jobs $ENV{CMAKE_BUILD_PARALLEL_LEVEL})
endif()
math(EXPR fit "${free} / ${needed}")
if(fit LESS jobs)
  if(fit LESS 1)
    set(fit 1)
  endif()
  message(WARNING " ${free} MB of memory are free, and each of ${jobs} compilations at a time may take \
${needed} MB: if one is killed, set the environment variable CMAKE_BUILD_PARALLEL_LEVEL=${fit}.")
endif()
