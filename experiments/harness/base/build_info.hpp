// SPDX-License-Identifier: Apache-2.0
#pragma once

// What this program's experiments were built with and from, for its record. cmake/Collection.cmake
// compiles the values into each program.
namespace recheck::build {

extern const char* const version;  // of Recheck
extern const char* const nvcc;
extern const char* const host_compiler;
extern const char* const flags;
extern const char* const arch;
extern const char* const architectures;  // arch, with native replaced
extern const char* const type;           // the configuration that was built
extern const char* const blas;
extern const bool optimised, fast_math;  // as the compiler reports, for the program's own C++
extern const char* const git_commit;
extern const bool git_dirty;
extern const char* const git_diff;                             // empty if clean
extern const char *const harness_commit, *const harness_diff;  // Recheck's own, in its library
extern const bool harness_dirty;
extern const char* const cubins;  // JSON: {"matmul/tile.cu": "16 digits", ...} or null
extern const char* const cubins_unknown;
extern const char* const nvcc_environment;  // "NVCC_APPEND_FLAGS=..." when device code was compiled
// source files of device code with these properties, separated by semicolons
extern const char* const device_debug;        // compiled with -G
extern const char* const device_unoptimised;  // at -O0 or -O1
extern const char* const device_relocatable;  // with -rdc=true, except those that have to be
extern const char* const device_foreign;      // for another architecture than this GPU's, `native`
extern const char* const device_fast_math;

}  // namespace recheck::build
