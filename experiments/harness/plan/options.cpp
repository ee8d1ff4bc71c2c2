// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>

#include "../base/flags.hpp"
#include "../base/text.hpp"
#include "../keep/record.hpp"
#include "../table/inputs.hpp"

namespace recheck {
namespace {

// PROGRAM and EXPERIMENTS stand for what they say
constexpr const char* usage =
    R"(usage: PROGRAM [--output=FOLDER] [--experiment=NAME,...] [--strategy=NAME,...] [--shape=AxB[xC],...]
               [--regime=NAME,...] [--cases=FILE] [--budget=TIME] [--per-case=SECONDS] [--seed=N] [--nonce=N]
               [--resume] [--force]
               [--benchmark_filter=REGEX] [--benchmark_...]
       PROGRAM --gate [--experiment=NAME,...] [--strategy=NAME,...] [--nonce=N]
       PROGRAM --gate --cases=FILE [--nonce=N]
       PROGRAM --version

Proves and times every strategy at every shape and writes FOLDER/record.json (default: report).
  --experiment  only these of EXPERIMENTS
  --strategy  only these rows of the tables
  --shape     these shapes instead of the full matrix, in the experiments that have so many axes
  --regime    only these of cold, drained, hot, end_to_end, first, first_context, inner, sustained. The two
              that start a process for each sample, first and first_context, are measured only if named
  --cases     only the cases whose ids stand in FILE, a line each, with the machine's ceilings and the
              self-audit. --resume without it goes on with all others
  --budget    wall time of the whole run: 5min, 300s or 300. What is predicted not to fit is dropped
              and named: sweeps first, then the largest shapes, headline shapes last
  --per-case  seconds of sampling per case (default 1, and 0.2 without a GPU); proof and first samples
              may take 20 times that
  --seed      of the inputs and of the order of measurement (default 13)
  --nonce     of the integers that proofs use besides the seed (default: drawn anew by each process, so that
              no row can know them); what is refused names it
  --resume    continue from what FOLDER has, with its --per-case, --budget and --seed. Where FOLDER has
              nothing, the run starts; what another machine or build has measured, or what is damaged,
              is moved to FOLDER/set_aside_1 before. A run that was killed has all cases but those of
              the shape in flight in FOLDER/record.journal.jsonl
  --force     measure although CUDA_LAUNCH_BLOCKING makes every GPU time too long; the report says so
  --gate      time nothing: prove every row at its experiment's awkward shapes, a line for each; with
              --cases these, at their own, and show a profiler one launch of each (cudaProfilerStart)
Google Benchmark's flags choose and print: --benchmark_filter, --benchmark_list_tests,
--benchmark_format, --benchmark_out; it does not decide how long is sampled. All rows of a shape are
sampled in the same rounds.
CUDA_VISIBLE_DEVICES, in the environment, chooses the GPU: an index, or a UUID as nvidia-smi -L prints it.
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

/// The lines of a file; throws std::invalid_argument if there are none.
std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) lines.push_back(line);
  if (lines.empty())
    throw std::invalid_argument("--cases: " + path + " cannot be read, or names no case");
  return lines;
}

/// --gate has shapes and inputs of its own, times nothing and keeps nothing.
void check_gate(const std::set<std::string>& flags) {
  const std::set<std::string> own = {"--gate", "--experiment", "--strategy", "--cases", "--nonce"};
  for (const auto& flag : flags)
    if (!own.contains(flag))
      throw std::invalid_argument(
          flag + " has no say with --gate; --experiment, --strategy, --cases and --nonce have");
}

/// The usage of a program with these experiments.
std::string usage_of(const std::string& program, std::span<const Experiment> experiments) {
  std::vector<std::string_view> names;
  for (const auto& experiment : experiments) names.push_back(experiment.name);
  std::string text = usage;
  const std::pair<std::string, std::string> words[] = {{"PROGRAM", program},
                                                       {"EXPERIMENTS", joined(names)}};
  for (const auto& [word, meant] : words)
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at))
      text.replace(at, word.size(), meant);
  return text;
}

/// What each flag with a value does with it.
using Setters = std::map<std::string, std::function<void(const std::string&)>>;
Setters setters(Options& options) {
  return {
      {"--output", [&](const auto& value) { options.output = value; }},
      {"--experiment", [&](const auto& value) { options.choice.experiments = split(value); }},
      {"--strategy", [&](const auto& value) { options.choice.strategies = split(value); }},
      {"--shape", [&](const auto& value) { options.choice.shapes = split(value); }},
      {"--regime", [&](const auto& value) { options.choice.regimes = split(value); }},
      {"--cases", [&](const auto& value) { options.choice.cases = lines_of(value); }},
      {"--per-case", [&](const auto& value) { options.per_case = positive("--per-case", value); }},
      {"--budget",
       [&](const auto& value) {
         options.command_budget = duration("--budget", value);
         options.budget = value;
       }},
      {"--seed", [&](const auto& value) { options.seed = whole_number("--seed", value); }},
      {"--nonce", [&](const auto& value) { nonce() = whole_number("--nonce", value); }}};
}

}  // namespace

Options parse(const std::string& program, std::span<const Experiment> experiments,
              std::vector<char*>& arguments) {
  Options options;
  options.command = program;
  std::vector<char*> left = {arguments[0]};
  std::set<std::string> flags;
  const auto with_value = setters(options);
  const std::map<std::string, bool*> switches = {
      {"--resume", &options.resume}, {"--force", &options.force}, {"--gate", &options.gate}};
  for (auto* argument : std::span(arguments).subspan(1)) {
    const Flag given(argument);
    const auto& [word, flag, value] = given;
    options.command += " " + word;
    flags.insert(flag);
    if (given.asks_for_help()) {
      std::cout << usage_of(program, experiments);
      std::exit(0);
    }
    if (word == "--version") {
      std::cout << version(program) << '\n';
      std::exit(0);
    }
    if (flag.starts_with("--benchmark_")) {
      options.benchmark_prints = true;  // it is expected to
      options.benchmark_lists |= flag == "--benchmark_list_tests" && value != "false";
      left.push_back(argument);
    } else if (const auto found = switches.find(word); found != switches.end()) {
      *found->second = true;
    } else {
      given.check(with_value.contains(flag), program);
      with_value.at(flag)(value);
    }
  }
  if (options.gate) check_gate(flags);
  arguments = std::move(left);
  return options;
}

}  // namespace recheck
