// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan.hpp"

namespace recheck {

/// What a command line asks of a program of experiments.
struct Options {
  std::string command;  // the whole of it
  std::filesystem::path output = "report";
  Choice choice;
  std::optional<double> per_case, command_budget;  // seconds
  std::string budget;                              // of the whole run, as it was given
  std::optional<std::uint64_t> seed;
  bool resume = false, gate = false;
  bool force = false;  // measure although every time will be wrong
  bool benchmark_prints = false, benchmark_lists = false;
};

/// Takes Recheck's own flags out of `arguments` and leaves Google Benchmark's. Prints and ends the
/// program where it is asked for help or its version. Throws std::invalid_argument, in one line,
/// for a flag that makes no sense.
Options parse(const std::string& program, std::span<const Experiment> experiments,
              std::vector<char*>& arguments);

}  // namespace recheck
