// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything that your own experiments need; README.md in this folder is the manual.

#include "../reference/error.hpp"
#include "../reference/parallel.hpp"
#include "harness/table/check.hpp"
#include "harness/table/limits.hpp"

namespace recheck {

/// The main program for a set of experiments: plans every case that their tables declare, proves
/// and times them, and writes record.json. Google Benchmark chooses and prints cases; `--help` has
/// the details. It adds the experiments `machine` and `audit`, which every report needs, unless
/// they are given. Returns the exit code, with one line on standard error unless it is 0: 2 for
/// invalid input, 1 if the record cannot be kept or the gate found a wrong row, 77 if `--gate`
/// could test no row, 130 if interrupted.
int main(int argc, char** argv, std::span<const Experiment> experiments);

}  // namespace recheck
