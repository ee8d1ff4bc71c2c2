// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "../case/case.hpp"

namespace recheck {

// Google Benchmark chooses cases, runs them and reports: a benchmark for each case, by its id.

/// Begins this program again without the environment's variables that begin so, if there are any,
/// as Google Benchmark and GoogleTest read theirs before main(). Before anything else. Returns
/// whether it should have begun again, and could not.
bool begin_again_without(std::span<const std::string_view> prefixes, char* const* arguments);

/// Gives Google Benchmark its flags. Throws std::invalid_argument, in one line, for one that it
/// does not know.
void initialize_benchmarks(std::vector<char*>& arguments);

/// Prints the cases that --benchmark_filter chooses, an id a line.
void list_benchmarks(const std::vector<Case>& cases);

/// The cases that --benchmark_filter chooses. Throws std::invalid_argument, in one line, where
/// these are none.
std::vector<Case> filtered(const std::vector<Case>& cases);

/// Runs a benchmark for each case: has it measured, and reports the median that it then has, or why
/// there is none. `prints`: on standard output, as --benchmark_format says. What `measure` throws
/// comes out again.
void run_benchmarks(const std::vector<Case>& cases, const std::function<void(const Case&)>& measure,
                    bool prints);

}  // namespace recheck
