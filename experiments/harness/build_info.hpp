// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a program's experiments were built with and from, for its record; cmake/Collection.cmake has
// the values compiled into each program.
namespace recheck::build {

extern const char* const version;  // of Recheck
extern const char* const nvcc;
extern const char* const host_compiler;
extern const char* const flags;
extern const char* const arch;
extern const char* const architectures;  // arch without the word native
extern const char* const type;
extern const bool device_debug;
extern const char* const blas;
extern const char* const git_commit;
extern const bool git_dirty;
extern const char* const git_diff;  // empty where clean
extern const char* const cubins;    // JSON: {"matmul/tile.cu": "16 digits", ...} or null
extern const char* const cubins_unknown;

}  // namespace recheck::build
