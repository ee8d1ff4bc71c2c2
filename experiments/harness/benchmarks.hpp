// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "case.hpp"

namespace recheck {

// Google Benchmark chooses cases, runs them and reports: a benchmark for each case, by its id.

/// Has its variables, BENCHMARK_FILTER and others, no effect: begins the program again without them
/// where there are any. Before anything else.
void forget_variables_of_benchmarks(char* const* arguments);

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
