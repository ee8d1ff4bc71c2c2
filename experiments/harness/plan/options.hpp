// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan.hpp"

namespace recheck {

/// The options on the command line of a program of experiments.
struct Options {
  std::string command;  // the complete command line
  std::filesystem::path output = "report";
  Choice choice;
  std::optional<double> per_case, command_budget;  // seconds
  std::string budget;                              // of the whole run, as the user wrote it
  std::optional<std::uint64_t> seed, nonce;
  bool resume = false, recover = false, gate = false;
  bool force = false;     // measure even if every GPU time will be wrong
  bool slow_cpu = false;  // measure only the CPU rows that occupy a core for long
  bool benchmark_prints = false, benchmark_lists = false;
};

/// Removes Recheck's own flags from `arguments` and leaves Google Benchmark's. Prints the help or
/// the version and exits if asked to. Throws std::invalid_argument, in one line, for an invalid
/// flag.
Options parse(const std::string& program, std::span<const Experiment> experiments,
              std::vector<char*>& arguments);

}  // namespace recheck
