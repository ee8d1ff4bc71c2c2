// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "../case/case.hpp"

namespace recheck {

// Google Benchmark selects cases, runs them and reports: one benchmark for each case, by id.

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

/// Runs one benchmark per case: calls `measure`, then reports the case's median, or why it has
/// none. `prints`: to standard output, in the format of --benchmark_format. Rethrows what `measure`
/// throws.
void run_benchmarks(const std::vector<Case>& cases, const std::function<void(const Case&)>& measure,
                    bool prints);

}  // namespace recheck
