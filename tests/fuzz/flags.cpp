// SPDX-License-Identifier: Apache-2.0
//
// A command line, a word a line: its flags, the choice that they make in the tables, and how that
// is fitted into a budget.
#include "../../experiments/harness/flags.hpp"

#include <benchmark/benchmark.h>

#include "../../experiments/harness/benchmarks.hpp"
#include "../../experiments/harness/options.hpp"
#include "resume.hpp"

namespace {

using namespace recheck;

/// Words that end the program, or by which Google Benchmark opens files.
bool acts(const std::string& word) {
  return Flag(word).asks_for_help() || word == "--version" || word.starts_with("--benchmark_out=");
}

void choose(std::vector<std::string>& words) {
  static const auto tables = experiments();
  static char program[] = "recheck";
  std::vector<char*> arguments = {program};
  for (auto& word : words) arguments.push_back(word.data());
  const auto options = parse("recheck", tables, arguments);
  auto cases = plan(tables, options.choice).cases;
  for (const auto& word : words)
    if (Flag(word).name == "--benchmark_filter") {
      benchmark::SetBenchmarkFilter(Flag(word).value);
      cases = filtered(std::move(cases));
    }
  const auto planned = cases.size();
  predict(cases, options.settings, {}, nullptr);
  if (const auto budget = options.settings.command_budget_seconds)
    if (fit(cases, *budget, options.budget).empty() != (cases.size() == planned))
      found("what was dropped is not what is said");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's own name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // as the system hands them over, words hold no zero
  std::string text(reinterpret_cast<const char*>(data), size);
  std::erase(text, '\0');
  auto words = split(text, '\n');
  if (std::ranges::any_of(words, acts)) return -1;
  try {
    choose(words);
  } catch (const std::invalid_argument& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos)
      found("not a line: " + std::string(error.what()));
  }
  return 0;
}
