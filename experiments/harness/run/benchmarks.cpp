// SPDX-License-Identifier: Apache-2.0
#include "benchmarks.hpp"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../keep/journal.hpp"

namespace recheck {
namespace {

class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

/// Reports a case by its line of the record, which may be an earlier run's.
void report(const Case& c, benchmark::State& state) {
  const auto line = nlohmann::json::parse(lines_of(c).record);
  const auto& seconds = line.at("seconds");
  if (seconds.is_null()) state.SkipWithError(line.at("reason").get<std::string>().c_str());
  const double median = seconds.is_null() ? 0 : seconds.at("median").get<double>();
  // NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): Google Benchmark's own idiom
  for (const auto _ : state) state.SetIterationTime(median);
  if (seconds.is_null()) return;
  state.counters["flop_rate"] = line.at("flops").get<double>() / median;
  state.counters["byte_rate"] = line.at("bytes").get<double>() / median;
  for (const char* name : {"low", "high", "samples"})
    state.counters[name] = seconds.at(name).get<double>();
}

}  // namespace

bool begin_again_without(std::span<const std::string_view> prefixes, char* const* arguments) {
  std::vector<std::string> names;
  for (char* const* entry = environ; *entry != nullptr; ++entry)
    for (const auto prefix : prefixes)
      if (const std::string_view text = *entry; text.starts_with(prefix))
        names.emplace_back(text.substr(0, text.find('=')));
  if (names.empty()) return false;
  for (const auto& name : names) unsetenv(name.c_str());
  // the libraries have read these variables before main()
  execv("/proc/self/exe", arguments);
  return true;
}

void initialize_benchmarks(std::vector<char*>& arguments) {
  int left = static_cast<int>(arguments.size());
  benchmark::Initialize(&left, arguments.data());
  if (left > 1) throw std::invalid_argument("unknown flag '" + std::string(arguments[1]) + "'");
}

void list_benchmarks(const std::vector<Case>& cases) {
  for (const Case& c : cases)
    benchmark::RegisterBenchmark(c.id().c_str(), [](benchmark::State&) {});
  benchmark::RunSpecifiedBenchmarks();
}

std::vector<Case> filtered(const std::vector<Case>& cases) {
  std::set<const Case*> chosen;
  for (const Case& c : cases)
    benchmark::RegisterBenchmark(c.id().c_str(), [&](benchmark::State& state) {
      chosen.insert(&c);
      state.SkipWithError("not yet");
    });
  SilentReporter silent;
  benchmark::RunSpecifiedBenchmarks(&silent);
  benchmark::ClearRegisteredBenchmarks();
  if (chosen.empty())
    throw std::invalid_argument("no case matches --benchmark_filter; see --benchmark_list_tests");
  std::vector<Case> left;
  for (const Case& c : cases)
    if (chosen.contains(&c)) left.push_back(c);
  return left;
}

void print_benchmarks(const std::vector<Case>& cases) {
  for (const Case& c : cases)
    benchmark::RegisterBenchmark(c.id().c_str(), [&](benchmark::State& state) { report(c, state); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMicrosecond);
  // its own filter would also match the suffixes that it appends to names
  benchmark::RunSpecifiedBenchmarks(".");
}

}  // namespace recheck
