// SPDX-License-Identifier: Apache-2.0
#pragma once

// All that experiments of your own need; README.md beside this file is their manual.

#include "../reference/error.hpp"
#include "../reference/parallel.hpp"
#include "harness/table/check.hpp"
#include "harness/table/limits.hpp"

namespace recheck {

/// The program of some experiments: plans every case that their tables declare, has Google
/// Benchmark choose among them, proves and times them and writes record.json; `--help` says more.
/// What every report needs, the experiments `machine` and `audit`, comes to them unless they have
/// their own. Returns the exit code, with one line on standard error unless it is 0: 2 for input
/// that makes no sense, 1 where the record cannot be kept or the gate caught a row, 77 where
/// `--gate` could try none, 130 when interrupted.
int main(int argc, char** argv, std::span<const Experiment> experiments);

}  // namespace recheck
