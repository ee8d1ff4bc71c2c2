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

#include "../base/text.hpp"
#include "../keep/record.hpp"

namespace recheck {
namespace {

// PROGRAM, EXPERIMENTS and REGIMES are placeholders
constexpr const char* usage =
    R"(usage: PROGRAM [--output=FOLDER] [--experiment=NAME,...] [--strategy=NAME,...] [--shape=AxB[xC],...]
               [--regime=NAME,...] [--cases=FILE] [--budget=TIME] [--per-case=SECONDS] [--seed=N] [--nonce=N]
               [--slow-cpu] [--resume] [--force]
               [--benchmark_filter=REGEX] [--benchmark_...]
       PROGRAM --gate [--experiment=NAME,...] [--strategy=NAME,...] [--nonce=N]
       PROGRAM --gate --cases=FILE [--nonce=N]
       PROGRAM --recover [--output=FOLDER]
       PROGRAM --version

Checks and times every strategy at every shape and writes FOLDER/record.json (default: report).
  --experiment  only these of EXPERIMENTS
  --strategy  only these rows of the tables
  --shape     these shapes instead of the full matrix, in the experiments with that many axes
  --regime    only these:REGIMES
  --cases     only the cases whose ids are in FILE, one per line, plus the machine's ceilings and the
              self-audit. --resume without it continues with all other cases
  --slow-cpu  only CPU rows that should take a second or more on one core, and leave the GPU alone;
              --resume without it continues with all other cases
  --budget    wall time of the whole run: 5min, 300s or 300. Cases that should not fit are dropped and
              listed: sweeps first, then the largest shapes, headline shapes last
  --per-case  seconds of sampling per case (default 1, or 0.2 without a GPU); its proof and first samples
              may take 20 times that
  --seed      of the inputs and of the order of measurement (default 13)
  --nonce     second seed of the integer test inputs (default: random per process, so that kernels cannot
              special-case them; failures print it)
  --resume    continue the run in FOLDER with its --per-case, --budget and --seed. If there is none, a new
              run starts. Damaged files, and those of another machine or build, are first moved to
              FOLDER/set_aside_1. A killed run keeps all cases except those of its last shape, in
              FOLDER/record.journal.jsonl
  --recover   write that run's record, measure nothing
  --force     measure even if CUDA_LAUNCH_BLOCKING makes every GPU time too long; the report will say so
  --gate      check without timing: every row at its experiment's awkward shapes, one line each. With
              --cases: these at their own shapes, each with a launch for a profiler (cudaProfilerStart)
Google Benchmark's flags select and print: --benchmark_filter, --benchmark_list_tests,
--benchmark_format, --benchmark_out. They do not change how long cases are sampled. All rows of a shape
are sampled in the same rounds.
The environment variable CUDA_VISIBLE_DEVICES selects the GPU: an index, or a UUID from nvidia-smi -L.
Exit status: 0 all cases have a result, whether they passed or not; 1 the record could not be written, or
--gate found a wrong kernel; 2 invalid arguments; 77 --gate could not test every row; 130 interrupted.
)";

/// A number from 0, exclusive, to 10^6 in one of these units; `kind` names it in the error.
double positive(const std::string& flag, const std::string& text, const std::string& kind,
                const std::map<std::string, double>& units) {
  std::string rest;
  const double value = number_in(text, rest);
  const auto unit = units.find(rest);
  if (unit == units.end() || !(value > 0) || value > 1e6)
    throw std::invalid_argument(flag + ": '" + text + "' is not a " + kind);
  return value * unit->second;
}

std::uint64_t whole_number(const std::string& flag, const std::string& text) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size())
    throw std::invalid_argument(flag + ": '" + text + "' is not a whole number");
  return value;
}

/// The lines of a file; throws std::invalid_argument if it has none.
std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) lines.push_back(line);
  if (lines.empty())
    throw std::invalid_argument("--cases: " + path + " cannot be read, or is empty");
  return lines;
}

/// --gate has its own shapes and inputs, takes no times and writes no files.
void check_gate(const std::set<std::string>& flags) {
  const std::set<std::string> own = {"--gate", "--experiment", "--strategy", "--cases", "--nonce"};
  for (const auto& flag : flags)
    if (!own.contains(flag))
      throw std::invalid_argument(
          flag + " cannot be combined with --gate; --experiment, --strategy, --cases, --nonce can");
}

/// The usage text for a program with these experiments.
std::string usage_of(const std::string& program, std::span<const Experiment> experiments) {
  std::vector<std::string_view> names;
  for (const auto& experiment : experiments) names.push_back(experiment.name);
  std::string text = usage, meanings;
  for (const auto& kind : regimes)
    meanings += "\n                " + std::string(kind.name) + ": " + std::string(kind.meaning) +
                (kind.only_if_named ? " (only if named: a process per sample)" : "");
  const std::pair<std::string, std::string> words[] = {
      {"PROGRAM", program}, {"EXPERIMENTS", joined(names)}, {"REGIMES", meanings}};
  for (const auto& [word, meant] : words)
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at))
      text.replace(at, word.size(), meant);
  return text;
}

/// What each flag with a value does with that value.
using Setters = std::map<std::string, std::function<void(const std::string&)>>;
Setters setters(Options& options) {
  return {{"--output", [&](const auto& value) { options.output = value; }},
          {"--experiment", [&](const auto& value) { options.choice.experiments = split(value); }},
          {"--strategy", [&](const auto& value) { options.choice.strategies = split(value); }},
          {"--shape", [&](const auto& value) { options.choice.shapes = split(value); }},
          {"--regime", [&](const auto& value) { options.choice.regimes = split(value); }},
          {"--cases", [&](const auto& value) { options.choice.cases = lines_of(value); }},
          {"--per-case",
           [&](const auto& value) {
             options.per_case =
                 positive("--per-case", value, "positive number up to 1000000", {{"", 1}});
           }},
          {"--budget",
           [&](const auto& value) {
             options.command_budget = positive("--budget", value, "time such as 5min, 300s or 300",
                                               {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}});
             options.budget = value;
           }},
          {"--seed", [&](const auto& value) { options.seed = whole_number("--seed", value); }},
          {"--nonce", [&](const auto& value) { options.nonce = whole_number("--nonce", value); }}};
}

}  // namespace

Options parse(const std::string& program, std::span<const Experiment> experiments,
              std::vector<char*>& arguments) {
  Options options;
  options.command = program;
  std::vector<char*> left = {arguments[0]};
  std::set<std::string> flags;
  const auto with_value = setters(options);
  const std::map<std::string, bool*> switches = {{"--resume", &options.resume},
                                                 {"--recover", &options.recover},
                                                 {"--force", &options.force},
                                                 {"--slow-cpu", &options.slow_cpu},
                                                 {"--gate", &options.gate}};
  for (auto* argument : std::span(arguments).subspan(1)) {
    const std::string word = argument, flag = word.substr(0, word.find('='));
    options.command += " " + word;
    flags.insert(flag);
    if (flag == "--help" || flag == "-h") {
      std::cout << usage_of(program, experiments);
      std::exit(0);
    }
    if (word == "--version") {
      std::cout << version(program) << '\n';
      std::exit(0);
    }
    if (flag.starts_with("--benchmark_")) {
      options.benchmark_prints = true;  // the user expects its output
      options.benchmark_lists |= flag == "--benchmark_list_tests" && !word.ends_with("=false");
      left.push_back(argument);
    } else if (const auto found = switches.find(word); found != switches.end()) {
      *found->second = true;
    } else if (const auto setter = with_value.find(flag); setter == with_value.end()) {
      throw std::invalid_argument("unknown flag '" + word + "'; see " + program + " --help");
    } else if (word.size() <= flag.size() + 1) {
      throw std::invalid_argument(flag + " needs a value: " + flag + "=...");
    } else {
      setter->second(word.substr(flag.size() + 1));
    }
  }
  if (options.gate) check_gate(flags);
  arguments = std::move(left);
  return options;
}

}  // namespace recheck
