// SPDX-License-Identifier: Apache-2.0
//
// The benchmark: plans every case that the tables declare, has Google Benchmark choose among them,
// and writes record.json. One line on standard error and exit code 2 for input that makes no sense.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>

#include "record.hpp"
#include "session.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* usage =
    R"(usage: recheck [--output=FOLDER] [--experiment=NAME,...] [--strategy=NAME,...] [--shape=AxB[xC],...]
               [--regime=NAME,...] [--budget=SECONDS] [--seed=N] [--resume] [--benchmark_filter=REGEX]
               [--benchmark_...]

Proves and times every strategy at every shape and writes FOLDER/record.json (default: report).
  --experiment  only these of matmul, matvec, transpose
  --strategy  only these rows of the tables
  --shape     these shapes instead of the full matrix, in the experiments that have so many axes
  --regime    only these of cold, hot, end_to_end, inner
  --budget    seconds of sampling per case (default 1); proof and first samples may take 20 times that
  --seed      of the inputs and of the order of measurement (default 13)
  --resume    keep what FOLDER/record.json has, if it was measured in the same environment
Google Benchmark's flags choose and print: --benchmark_filter, --benchmark_list_tests,
--benchmark_format, --benchmark_out. How often to sample is decided by the interval that comes out.
Exit code: 0 when every case has come to a verdict, whichever; 1 when the record cannot be kept;
2 for input that makes no sense; 130 when interrupted.
)";

/// Input that makes no sense: one line for the user.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::filesystem::path output = "report";
  std::vector<std::string> experiments, strategies, shapes, regimes;
  Settings settings;
  bool resume = false;
  bool benchmark_prints = false;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words(1);
  for (const char c : list) {
    if (c == ',')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

double positive(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0) || value > 1e6)
    throw UsageError(flag + ": '" + text + "' is not a positive number up to 1000000");
  return value;
}

std::uint64_t whole(const std::string& flag, const std::string& text) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size())
    throw UsageError(flag + ": '" + text + "' is not a whole number");
  return value;
}

/// What Google Benchmark would answer with a page of usage, or not at all.
void check_benchmark_flag(const std::string& flag, const std::string& value) {
  if (flag == "--benchmark_repetitions" || flag == "--benchmark_min_time")
    throw UsageError(flag +
                     " has no say here: Recheck samples until the median's interval is narrow; use "
                     "--budget=SECONDS");
  const bool format = flag == "--benchmark_format" || flag == "--benchmark_out_format";
  if (format && value != "console" && value != "json" && value != "csv")
    throw UsageError(flag + ": '" + value + "' is none of console, json, csv");
  if (flag == "--benchmark_out" && !std::ofstream(value, std::ios::app))
    throw UsageError(flag + ": cannot write " + value);
  if (flag == "--benchmark_filter") try {
      std::regex{value};
    } catch (const std::regex_error&) {
      throw UsageError(flag + ": '" + value + "' is not a regular expression");
    }
}

/// Takes Recheck's own flags out of argv and leaves Google Benchmark's.
Options parse(std::vector<char*>& arguments) {
  Options options;
  std::vector<char*> left = {arguments[0]};
  for (auto* argument : std::span(arguments).subspan(1)) {
    const std::string word = argument;
    const auto equals = word.find('=');
    const std::string flag = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (flag == "--help" || flag == "-h") {
      std::cout << usage;
      std::exit(0);
    }
    if (flag.starts_with("--benchmark_")) {
      check_benchmark_flag(flag, value);
      options.benchmark_prints |= flag == "--benchmark_format" || flag == "--benchmark_color";
      left.push_back(argument);
      continue;
    }
    if (word == "--resume") {
      options.resume = true;
      continue;
    }
    const std::set<std::string> own = {"--output", "--experiment", "--strategy", "--shape",
                                       "--regime", "--budget",     "--seed"};
    if (!own.contains(flag)) throw UsageError("unknown flag '" + word + "'; see recheck --help");
    if (value.empty()) throw UsageError(flag + " needs a value: " + flag + "=...");
    if (flag == "--output") options.output = value;
    if (flag == "--experiment") options.experiments = split(value);
    if (flag == "--strategy") options.strategies = split(value);
    if (flag == "--shape") options.shapes = split(value);
    if (flag == "--regime") options.regimes = split(value);
    if (flag == "--budget") options.settings.budget_seconds = positive(flag, value);
    if (flag == "--seed") options.settings.seed = whole(flag, value);
  }
  arguments = left;
  return options;
}

/// The chosen names among the known ones, or an error that lists what there is.
void require_known(const char* what, const std::vector<std::string>& chosen,
                   const std::vector<std::string>& known) {
  for (const auto& name : chosen) {
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string list;
    for (const auto& k : known) list += (list.empty() ? "" : ", ") + k;
    throw UsageError(std::string("unknown ") + what + " '" + name + "': there are " + list);
  }
}

std::size_t extents_of(const std::string& shape) {
  return 1 + static_cast<std::size_t>(std::ranges::count(shape, 'x'));
}

/// A shape that no experiment could have is an error that lists what they have.
void require_shape(const std::string& text) {
  std::string known;
  for (const auto& experiment : experiments()) {
    if (experiment.axes.size() == extents_of(text)) return;
    std::string axes;
    for (const auto axis : experiment.axes) axes += (axes.empty() ? "" : "x") + std::string(axis);
    known += (known.empty() ? "" : ", ") + std::string(experiment.name) + " " + axes;
  }
  throw UsageError("'" + text + "' is not a shape: there are " + known);
}

/// Whether a strategy can be timed in a regime at all.
bool applies(const Strategy& strategy, Regime regime) {
  // a CPU's data is where it needs it: its one regime, hot, is its end to end as well
  if (strategy.launch.backend == Backend::cpu) return regime == Regime::hot;
  if (regime == Regime::inner) return strategy.repeats;
  return regime != Regime::end_to_end || strategy.role != Role::part;
}

/// Every case of the tables that the options ask for, in the order of the report.
std::vector<Case> plan(const Options& options) {
  std::vector<std::string> names, strategies;
  for (const auto& experiment : experiments()) {
    names.emplace_back(experiment.name);
    for (const auto& strategy : experiment.ladder)
      if (std::ranges::find(strategies, strategy.name) == strategies.end())
        strategies.emplace_back(strategy.name);
  }
  require_known("experiment", options.experiments, names);
  require_known("strategy", options.strategies, strategies);
  for (const auto& text : options.shapes) require_shape(text);
  std::vector<std::string> regime_names;
  for (const auto regime : regimes) regime_names.emplace_back(name_of(regime));
  require_known("regime", options.regimes, regime_names);
  const auto wanted = [](const std::vector<std::string>& list, std::string_view name) {
    return list.empty() || std::ranges::find(list, name) != list.end();
  };

  std::vector<Case> cases;
  for (const auto& experiment : experiments()) {
    if (!wanted(options.experiments, experiment.name)) continue;
    std::vector<Shape> shapes = experiment.timed;
    if (!options.shapes.empty()) {
      shapes.clear();
      for (const auto& text : options.shapes)
        if (extents_of(text) == experiment.axes.size())
          if (auto shape = parse_shape(text, experiment.axes.size());
              std::ranges::find(shapes, shape) == shapes.end())
            shapes.push_back(std::move(shape));
    }
    for (const auto& shape : shapes) {
      for (const auto regime : regimes) {
        for (const auto& strategy : experiment.ladder) {
          const bool left_out = options.shapes.empty() && experiment.leaves_out != nullptr &&
                                experiment.leaves_out(strategy, shape, regime);
          if (applies(strategy, regime) && !left_out && wanted(options.strategies, strategy.name) &&
              wanted(options.regimes, name_of(regime)))
            cases.push_back({&experiment, &strategy, shape, regime});
        }
      }
    }
  }
  return cases;
}

class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

/// Registers a benchmark for each case, which calls `reached` when Google Benchmark comes to it.
void register_cases(std::vector<Case>& cases, const std::function<void(Case&)>& reached) {
  benchmark::ClearRegisteredBenchmarks();
  for (Case& c : cases) {
    benchmark::RegisterBenchmark(
        c.id().c_str(),
        [&c, reached](benchmark::State& state) {
          reached(c);
          if (!c.seconds)
            state.SkipWithError(
                (c.verdict && c.verdict->reason ? *c.verdict->reason : "not reached").c_str());
          for (auto _ : state)  // NOLINT(clang-analyzer-deadcode.DeadStores): gbench's own idiom
            state.SetIterationTime(c.seconds ? c.seconds->median : 0);
          if (!c.seconds) return;
          const Work work = c.work();
          state.counters["flop_rate"] = work.flops / c.seconds->median;
          state.counters["byte_rate"] = work.bytes / c.seconds->median;
          state.counters["low"] = c.seconds->low;
          state.counters["high"] = c.seconds->high;
          state.counters["samples"] = static_cast<double>(c.samples.size());
        })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMicrosecond);
  }
}

/// Where a run is, on standard error: cases done, the one at hand, elapsed and expected time. One
/// line that renews itself on a terminal; elsewhere a line per shape.
class Progress {
 public:
  explicit Progress(const std::vector<Case>& cases) : cases_(cases) {}

  void show(const Case& current) {
    // on a terminal at most ten times a second: the run's time is not for printing
    const bool due = terminal_ ? elapsed() - shown_at_ > 0.1
                               : current.shape != shown_.shape || shown_.experiment == nullptr;
    if (!due) return;
    shown_at_ = elapsed();
    shown_ = current;
    double all = 0, done = 0;
    std::size_t count = 0;
    for (const Case& c : cases_) {
      all += weight(c);
      if (!c.verdict) continue;
      done += weight(c);
      ++count;
    }
    const auto left =
        done > 0 ? ", about " + clock(elapsed() * (all - done) / done) + " left" : std::string();
    std::fprintf(stderr, "%s[%4zu/%zu] %-48s elapsed %s%s%s", terminal_ ? "\r" : "", count,
                 cases_.size(), current.id().c_str(), clock(elapsed()).c_str(), left.c_str(),
                 terminal_ ? "   " : "\n");
  }
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  static std::string clock(double seconds) {
    const int whole = static_cast<int>(std::lround(seconds));
    return std::to_string(whole / 60) + (whole % 60 < 10 ? ":0" : ":") + std::to_string(whole % 60);
  }
  void end() const {
    if (terminal_) std::fputc('\n', stderr);
  }

 private:
  /// A case's share of the run: something for being there, and its work.
  static double weight(const Case& c) { return 1 + c.work().size() / 1e11; }

  const std::vector<Case>& cases_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  Case shown_{};
  double shown_at_ = -1;
};

int run(int argc, char** argv) {
  std::string command = "recheck";
  for (int i = 1; i < argc; ++i) command += " " + std::string(argv[i]);
  std::vector<char*> arguments(argv, argv + argc);
  const Options options = parse(arguments);
  const auto planned = plan(options);
  if (planned.empty())
    throw UsageError(
        "nothing to measure: no such strategy has such a shape or that regime; CPU rows have hot "
        "only, inner is for rows that repeat themselves");
  int left = static_cast<int>(arguments.size());
  benchmark::Initialize(&left, arguments.data());
  if (left > 1) throw UsageError("unknown flag '" + std::string(arguments[1]) + "'");

  // a first pass that only asks Google Benchmark which cases its flags choose
  std::set<std::string> chosen;
  auto candidates = planned;
  register_cases(candidates, [&](Case& c) { chosen.insert(c.id()); });
  SilentReporter silent;
  std::ostream nowhere(nullptr);
  silent.SetErrorStream(&nowhere);  // a filter without a match is told in our own one line
  if (benchmark::RunSpecifiedBenchmarks(&silent) == 0)
    throw UsageError("no case matches --benchmark_filter; see --benchmark_list_tests");
  if (chosen.empty()) return 0;  // --benchmark_list_tests has printed them

  const Gpu gpu = find_gpu();
  Record record{.environment = environment(gpu, command, options.settings),
                .ceilings = ceilings(gpu),
                .cases = {}};
  for (const auto& c : planned)
    if (chosen.contains(c.id())) record.cases.push_back(c);

  Progress progress(record.cases);
  const auto file = options.output / "record.json";
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  if (error)
    throw std::runtime_error("cannot create " + options.output.string() + ": " + error.message() +
                             "; choose another folder with --output");
  double earlier_seconds = 0, saved_at = 0;
  const auto save = [&] {
    record.wall_seconds = earlier_seconds + progress.elapsed();
    // a command line may hold bytes that are no UTF-8
    write_file(file, record.to_json().dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    saved_at = progress.elapsed();
  };
  // after each case, but not so often that writing would take the time that is there for measuring
  const auto save_soon = [&] {
    if (progress.elapsed() > saved_at + 1) save();
  };
  if (options.resume) {
    record.resume(read_json(file));
    earlier_seconds = record.wall_seconds;
  } else if (std::filesystem::exists(file)) {
    // an earlier record is moved aside before the first save, not lost
    std::filesystem::rename(file, options.output / "record.previous.json", error);
    if (error)
      throw std::runtime_error("cannot move " + file.string() + " aside: " + error.message() +
                               "; choose another folder with --output");
  }
  save();
  std::fprintf(stderr, "%zu cases on %s\n", record.cases.size(),
               (gpu.device ? gpu.device->name : "this CPU; " + gpu.reason.value_or("")).c_str());

  std::signal(SIGINT, [](int) {
    if (interrupted) std::_Exit(130);  // asked twice: go at once; what is saved stays
    interrupted = true;
  });
  for (const int end : {SIGTERM, SIGHUP}) std::signal(end, [](int) { interrupted = true; });
  std::signal(SIGPIPE, SIG_IGN);  // nobody reads the progress any more: measure on

  // the second pass: the first case of a shape has all chosen cases of that shape measured, in
  // rounds; the others find theirs done
  Session session(options.settings, gpu, [&](const Case& c) { progress.show(c); }, save_soon);
  const auto measure = [&](Case& first) {
    if (first.verdict || interrupted) return;
    std::vector<Case*> group;
    for (Case& c : record.cases)
      if (c.experiment == first.experiment && c.shape == first.shape) group.push_back(&c);
    try {
      session.measure(group);
    } catch (const DeviceLost&) {
      // the case at fault has its verdict; a fresh process goes on behind it
      save();
      std::vector<char*> again(argv, argv + argc);
      static char resume[] = "--resume";
      if (!options.resume) again.push_back(resume);
      again.push_back(nullptr);
      std::fprintf(stderr, "%sa case has taken the device down: going on in a new process\n",
                   isatty(STDERR_FILENO) != 0 ? "\n" : "");
      execv("/proc/self/exe", again.data());
      throw std::runtime_error(
          "cannot start anew after a case has taken the device down; run again "
          "with --resume");
    }
  };
  register_cases(record.cases, measure);
  if (options.benchmark_prints)
    benchmark::RunSpecifiedBenchmarks();
  else
    benchmark::RunSpecifiedBenchmarks(&silent);
  progress.end();

  record.finished = !interrupted;
  save();
  std::map<Status, int> counts;
  for (const auto& c : record.cases) ++counts[c.verdict ? c.verdict->status : Status::not_run];
  std::fprintf(stderr, "%s after %s:", interrupted ? "interrupted" : "finished",
               Progress::clock(progress.elapsed()).c_str());
  for (const auto& [status, count] : counts)
    std::fprintf(stderr, " %d %s", count, std::string(name_of(status)).c_str());
  std::fprintf(stderr, "\nrecord: %s\n", file.c_str());
  for (const auto& c : record.cases) {
    const Verdict verdict = c.verdict.value_or(Verdict{});
    if (verdict.status == Status::incorrect || verdict.status == Status::failed)
      std::fprintf(stderr, "%s %s: %s\n", std::string(name_of(verdict.status)).c_str(),
                   c.id().c_str(), verdict.reason.value_or("").c_str());
  }
  return interrupted ? 130 : 0;
}

}  // namespace
}  // namespace recheck

int main(int argc, char** argv) try {
  return recheck::run(argc, argv);
} catch (const std::invalid_argument& error) {
  std::cerr << "recheck: " << error.what() << '\n';
  return 2;
} catch (const recheck::UsageError& error) {
  std::cerr << "recheck: " << error.what() << '\n';
  return 2;
} catch (const std::exception& error) {
  std::cerr << "recheck: " << error.what() << '\n';
  return 1;
}
