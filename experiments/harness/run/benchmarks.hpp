// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "../case/case.hpp"

namespace recheck {

// Google Benchmark selects and prints cases, by id. It times nothing.

/// Restarts this program without the environment variables with these prefixes, if any are set, as
/// Google Benchmark and GoogleTest read theirs before main(). Call it first. Returns true if a
/// restart was needed but failed.
bool begin_again_without(std::span<const std::string_view> prefixes, char* const* arguments);

/// Passes Google Benchmark its flags. Throws std::invalid_argument, in one line, for a flag that it
/// does not know.
void initialize_benchmarks(std::vector<char*>& arguments);

/// Prints the ids of the cases that --benchmark_filter selects, one per line.
void list_benchmarks(const std::vector<Case>& cases);

/// The cases that --benchmark_filter selects. Throws std::invalid_argument, in one line, if it
/// selects none.
std::vector<Case> filtered(const std::vector<Case>& cases);

/// Prints each case's median, or why it has none, in the format of --benchmark_format, and writes
/// them to --benchmark_out.
void print_benchmarks(const std::vector<Case>& cases);

}  // namespace recheck
