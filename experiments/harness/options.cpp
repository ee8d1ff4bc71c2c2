// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>

#include "digits.hpp"
#include "flags.hpp"
#include "inputs.hpp"

namespace recheck {
namespace {

// PROGRAM and EXPERIMENTS stand for what they say
constexpr const char* usage =
    R"(usage: PROGRAM [--output=FOLDER] [--experiment=NAME,...] [--strategy=NAME,...] [--shape=AxB[xC],...]
               [--regime=NAME,...] [--quick] [--budget=TIME] [--per-case=SECONDS] [--seed=N] [--nonce=N]
               [--resume] [--force] [--device=INDEX|UUID|all] [--at-once]
               [--benchmark_filter=REGEX] [--benchmark_...]
       PROGRAM --gate [--experiment=NAME,...] [--strategy=NAME,...] [--device=INDEX|UUID] [--nonce=N]
       PROGRAM --version

Proves and times every strategy at every shape and writes FOLDER/record.json (default: report).
  --experiment  only these of EXPERIMENTS
  --strategy  only these rows of the tables
  --shape     these shapes instead of the full matrix, in the experiments that have so many axes
  --regime    only these of cold, hot, end_to_end, inner
  --quick     headline shapes, cold and hot, no sweeps: a minute or two on a large GPU
  --budget    wall time of the whole run: 5min, 300s or 300. What is predicted not to fit is dropped
              and named: sweeps first, then the largest shapes, headline shapes last
  --per-case  seconds of sampling per case (default 1, and 0.2 without a GPU); proof and first samples
              may take 20 times that
  --seed      of the inputs and of the order of measurement (default 13)
  --nonce     of the integers that proofs use besides the seed (default: drawn anew by each process, so that
              no row can know them); what is refused names it
  --resume    go on behind what FOLDER has, if it was measured in the same environment. A run that was
              killed has all cases but those of the shape in flight in FOLDER/record.journal.jsonl
  --force     measure although CUDA_LAUNCH_BLOCKING makes every GPU time too long; the report says so
  --device    this GPU instead of CUDA's first: its index among those that CUDA_VISIBLE_DEVICES leaves, or
              its UUID or a MIG instance's, as nvidia-smi -L prints them. all: each of them, one after the
              other, in a process of its own, into a folder below FOLDER that is named after the model
              and the index; --budget is then each one's
  --at-once   with --device=all, all GPUs at once. They share power and host, which each record says;
              --at-once=N says so of one of N GPUs that you measure at once yourself
  --gate      time nothing: prove every row at its experiment's awkward shapes, a line for each
Google Benchmark's flags choose and print: --benchmark_filter, --benchmark_list_tests,
--benchmark_format, --benchmark_out. All rows of a shape are sampled in the same rounds.
Exit code: 0 when every case has come to a result, whichever; 1 when the record cannot be kept, or
--gate has caught a row; 2 for input that makes no sense; 77 when --gate could not try every row; 130 when
interrupted.
)";

double positive(const std::string& flag, const std::string& text) {
  std::string rest;
  const double value = number_in(text, rest);
  if (!rest.empty() || !(value > 0) || value > 1e6)
    throw std::invalid_argument(flag + ": '" + text + "' is not a positive number up to 1000000");
  return value;
}

/// Seconds in "5min", "300s" or "300".
double duration(const std::string& flag, const std::string& text) {
  std::string rest;
  const double value = number_in(text, rest);
  const std::map<std::string, double> units = {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}};
  const auto unit = units.find(rest);
  if (unit == units.end() || !(value > 0) || value > 1e6)
    throw std::invalid_argument(flag + ": '" + text + "' is not a time such as 5min, 300s or 300");
  return value * unit->second;
}

std::uint64_t whole_number(const std::string& flag, const std::string& text) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size())
    throw std::invalid_argument(flag + ": '" + text + "' is not a whole number");
  return value;
}

/// What Google Benchmark would answer with a page of usage, or not at all.
void check_benchmark_flag(const std::string& flag, const std::string& value) {
  if (flag == "--benchmark_repetitions" || flag == "--benchmark_min_time")
    throw std::invalid_argument(
        flag +
        " has no say here: Recheck samples until the median's interval is narrow; use "
        "--per-case=SECONDS");
  const bool format = flag == "--benchmark_format" || flag == "--benchmark_out_format";
  if (format && value != "console" && value != "json" && value != "csv")
    throw std::invalid_argument(flag + ": '" + value + "' is none of console, json, csv");
  if (flag != "--benchmark_out") return;
  std::error_code none;
  const bool there = std::filesystem::exists(std::filesystem::symlink_status(value, none));
  if (!std::ofstream(value, std::ios::app))
    throw std::invalid_argument(flag + ": cannot write " + value);
  // another flag may still be refused
  if (!there) std::filesystem::remove(value, none);
}

int several(const std::string& flag, const std::string& text) {
  const auto value = whole_number(flag, text);
  if (value < 2 || value > 4096)
    throw std::invalid_argument(flag + ": '" + text + "' is not a number of GPUs from 2 to 4096");
  return static_cast<int>(value);
}

/// What does not go together where there are several GPUs. `left` is for Google Benchmark.
void check_devices(const Options& options, const std::vector<char*>& left) {
  const bool all = options.device == all_devices;
  if (options.at_once && !all)
    throw std::invalid_argument(
        "--at-once goes with --device=all; of one GPU among N, --at-once=N says that all are "
        "measured at once");
  if (!all) return;
  if (options.gpus_at_once > 1)
    throw std::invalid_argument("--at-once takes no number with --device=all, which knows it");
  if (options.gate)
    throw std::invalid_argument("--gate proves on one GPU: --device=INDEX names it");
  for (const char* argument : left)
    if (std::string_view(argument).starts_with("--benchmark_out="))
      throw std::invalid_argument(
          "--benchmark_out is one file, and --device=all has a process for each GPU: leave it out");
}

/// --gate has shapes and inputs of its own, times nothing and keeps nothing.
void check_gate(const std::set<std::string>& flags) {
  const std::set<std::string> own = {"--gate", "--experiment", "--strategy", "--device", "--nonce"};
  for (const auto& flag : flags)
    if (!own.contains(flag))
      throw std::invalid_argument(
          flag + " has no say with --gate; --experiment, --strategy, --device and --nonce have");
}

/// The usage of a program with these experiments.
std::string usage_of(const std::string& program, std::span<const Experiment> experiments) {
  std::string names;
  for (const auto& experiment : experiments)
    names += (names.empty() ? "" : ", ") + std::string(experiment.name);
  std::string text = usage;
  const std::pair<std::string, std::string> words[] = {{"PROGRAM", program},
                                                       {"EXPERIMENTS", names}};
  for (const auto& [word, meant] : words)
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at))
      text.replace(at, word.size(), meant);
  return text;
}

}  // namespace

Options parse(const std::string& program, std::span<const Experiment> experiments,
              std::vector<char*>& arguments) {
  Options options;
  std::vector<char*> left = {arguments[0]};
  std::set<std::string> flags;
  for (auto* argument : std::span(arguments).subspan(1)) {
    const Flag given(argument);
    const auto& [word, flag, value] = given;
    flags.insert(flag);
    if (given.asks_for_help()) {
      std::cout << usage_of(program, experiments);
      std::exit(0);
    }
    if (given.word == "--version") {
      std::cout << version(program) << '\n';
      std::exit(0);
    }
    if (flag.starts_with("--benchmark_")) {
      check_benchmark_flag(flag, value);
      // who uses them expects to see what it prints
      options.benchmark_prints = true;
      options.benchmark_lists |= flag == "--benchmark_list_tests" && value != "false";
      left.push_back(argument);
      continue;
    }
    const std::map<std::string, bool*> switches = {{"--quick", &options.choice.quick},
                                                   {"--resume", &options.resume},
                                                   {"--force", &options.force},
                                                   {"--gate", &options.gate},
                                                   {"--at-once", &options.at_once}};
    if (const auto found = switches.find(word); found != switches.end()) {
      *found->second = true;
      continue;
    }
    const std::set<std::string> own = {"--output", "--experiment", "--strategy", "--shape",
                                       "--regime", "--budget",     "--per-case", "--seed",
                                       "--nonce",  "--device",     "--at-once"};
    given.check(own.contains(flag), program);
    if (flag == "--output") options.output = value;
    if (flag == "--experiment") options.choice.experiments = split(value);
    if (flag == "--strategy") options.choice.strategies = split(value);
    if (flag == "--shape") options.choice.shapes = split(value);
    if (flag == "--regime") options.choice.regimes = split(value);
    if (flag == "--per-case") options.per_case = positive(flag, value);
    if (flag == "--budget") {
      options.settings.command_budget_seconds = duration(flag, value);
      options.budget = value;
    }
    if (flag == "--seed") options.settings.seed = whole_number(flag, value);
    if (flag == "--nonce") nonce() = whole_number(flag, value);
    if (flag == "--device") options.device = value;
    if (flag == "--at-once") options.gpus_at_once = several(flag, value);
  }
  check_devices(options, left);
  if (options.gate) check_gate(flags);
  arguments = std::move(left);
  return options;
}

}  // namespace recheck
