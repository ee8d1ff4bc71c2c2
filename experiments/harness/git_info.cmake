# Writes HEADER with the commit of SOURCE, and whether its work tree differs from it.
# the owner of a mounted work tree may be someone else: reading its commit is harmless
set(git git -c safe.directory=* -C ${SOURCE})
execute_process(COMMAND ${git} rev-parse HEAD OUTPUT_VARIABLE commit RESULT_VARIABLE failed
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(failed)
  set(commit unknown)
endif()
execute_process(COMMAND ${git} status --porcelain OUTPUT_VARIABLE changes ERROR_QUIET)
set(dirty false)
if(failed OR NOT changes STREQUAL "")
  set(dirty true)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT [[
// made by git_info.cmake
#pragma once

namespace recheck::build {
inline constexpr const char* git_commit = "@commit@";
inline constexpr bool git_dirty = @dirty@;
}  // namespace recheck::build
]] @ONLY)
