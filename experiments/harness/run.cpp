// SPDX-License-Identifier: Apache-2.0
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
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>

#include "../audit/audit.hpp"
#include "../machine/machine.hpp"
#include "environment.hpp"
#include "flags.hpp"
#include "gate.hpp"
#include "journal.hpp"
#include "main.hpp"
#include "plan.hpp"
#include "record.hpp"
#include "session.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

// PROGRAM and EXPERIMENTS stand for what they say
constexpr const char* usage =
    R"(usage: PROGRAM [--output=FOLDER] [--experiment=NAME,...] [--strategy=NAME,...] [--shape=AxB[xC],...]
               [--regime=NAME,...] [--quick] [--budget=TIME] [--per-case=SECONDS] [--seed=N] [--resume]
               [--benchmark_filter=REGEX] [--benchmark_...]
       PROGRAM --gate [--experiment=NAME,...] [--strategy=NAME,...]
       PROGRAM --version

Proves and times every strategy at every shape and writes FOLDER/record.json (default: report).
  --experiment  only these of EXPERIMENTS
  --strategy  only these rows of the tables
  --shape     these shapes instead of the full matrix, in the experiments that have so many axes
  --regime    only these of cold, hot, end_to_end, inner
  --quick     headline shapes, cold and hot, no sweeps: a minute or so on a large GPU
  --budget    wall time of the whole run: 5min, 300s or 300. What is predicted not to fit is dropped
              and named: sweeps first, then the largest shapes, headline shapes last
  --per-case  seconds of sampling per case (default 1, and 0.2 without a GPU); proof and first samples
              may take 20 times that
  --seed      of the inputs and of the order of measurement (default 13)
  --resume    go on behind what FOLDER has, if it was measured in the same environment. A run that was
              killed has all cases but the one in flight in FOLDER/record.journal.jsonl
  --gate      time nothing: prove every row at its experiment's awkward shapes, a line for each
Google Benchmark's flags choose and print: --benchmark_filter, --benchmark_list_tests,
--benchmark_format, --benchmark_out. How often to sample is decided by the interval that comes out.
Exit code: 0 when every case has come to a verdict, whichever; 1 when the record cannot be kept, or
--gate has caught a row; 2 for input that makes no sense; 77 when --gate could try no row; 130 when
interrupted.
)";

struct Options {
  std::filesystem::path output = "report";
  Choice choice;
  Settings settings;
  std::optional<double> per_case;  // seconds
  std::string budget;              // of the whole run, as it was given
  bool resume = false, gate = false;
  bool benchmark_prints = false;
};

double positive(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0) || value > 1e6)
    throw std::invalid_argument(flag + ": '" + text + "' is not a positive number up to 1000000");
  return value;
}

/// Seconds in "5min", "300s" or "300".
double duration(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::map<std::string, double> units = {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}};
  const auto unit = units.find(end);
  if (end == text.c_str() || unit == units.end() || !(value > 0) || value > 1e6)
    throw std::invalid_argument(flag + ": '" + text + "' is not a time such as 5min, 300s or 300");
  return value * unit->second;
}

std::uint64_t whole(const std::string& flag, const std::string& text) {
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
  if (flag == "--benchmark_out" && !std::ofstream(value, std::ios::app))
    throw std::invalid_argument(flag + ": cannot write " + value);
  if (flag == "--benchmark_filter") try {
      std::regex{value};
    } catch (const std::regex_error&) {
      throw std::invalid_argument(flag + ": '" + value + "' is not a regular expression");
    }
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

/// Takes Recheck's own flags out of argv and leaves Google Benchmark's.
Options parse(const std::string& program, std::span<const Experiment> experiments,
              std::vector<char*>& arguments) {
  Options options;
  std::vector<char*> left = {arguments[0]};
  for (auto* argument : std::span(arguments).subspan(1)) {
    const Flag given(argument);
    const auto& [word, flag, value] = given;
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
      options.benchmark_prints |= flag == "--benchmark_format" || flag == "--benchmark_color";
      left.push_back(argument);
      continue;
    }
    if (word == "--resume" || word == "--quick" || word == "--gate") {
      (word == "--quick"    ? options.choice.quick
       : word == "--resume" ? options.resume
                            : options.gate) = true;
      continue;
    }
    const std::set<std::string> own = {"--output", "--experiment", "--strategy", "--shape",
                                       "--regime", "--budget",     "--per-case", "--seed"};
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
    if (flag == "--seed") options.settings.seed = whole(flag, value);
  }
  arguments = std::move(left);
  return options;
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
          for (const auto _ :
               state)  // NOLINT(clang-analyzer-deadcode.DeadStores): gbench's own idiom
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

/// Whether two cases are measured in turns.
bool together(const Case& a, const Case& b) {
  return a.experiment == b.experiment && a.shape == b.shape;
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
    const auto count = std::ranges::count_if(cases_, [](const Case& c) { return !!c.verdict; });
    std::fprintf(stderr, "%s[%4td/%zu] %-48s elapsed %s, about %s left%s", terminal_ ? "\r" : "",
                 count, cases_.size(), current.id().c_str(), clock(elapsed()).c_str(),
                 clock(left()).c_str(), terminal_ ? "   " : "\n");
  }
  /// The cases of `first`'s shape come next.
  void begin(const Case& first) {
    const auto in_group = [&](const Case& c) { return !c.verdict && together(c, first); };
    group_end_ = elapsed() + expected(cases_, in_group);
    others_ = expected(cases_, [&](const Case& c) { return !c.verdict && !in_group(c); });
  }
  [[nodiscard]] double elapsed() const { return now() - start_; }
  [[nodiscard]] double left() const { return others_ + std::max(0.0, group_end_ - elapsed()); }
  static std::string clock(double seconds) {
    const int whole = static_cast<int>(std::lround(seconds));
    return std::to_string(whole / 60) + (whole % 60 < 10 ? ":0" : ":") + std::to_string(whole % 60);
  }
  void end() const {
    if (terminal_) std::fputc('\n', stderr);
  }

 private:
  const std::vector<Case>& cases_;
  double start_ = now();
  double group_end_ = 0, others_ = 0;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  Case shown_{};
  double shown_at_ = -1;
};

/// Which of these cases Google Benchmark's flags choose; none where they only ask for a list.
std::set<std::string> chosen_by_benchmark(std::vector<Case> candidates,
                                          benchmark::BenchmarkReporter& silent) {
  std::set<std::string> chosen;
  register_cases(candidates, [&](const Case& c) { chosen.insert(c.id()); });
  if (benchmark::RunSpecifiedBenchmarks(&silent) == 0)
    throw std::invalid_argument("no case matches --benchmark_filter; see --benchmark_list_tests");
  return chosen;
}

/// A record that may serve to predict this run, if the folder has one; else null.
Json record_to_predict_by(const std::filesystem::path& file, const Json& environment) try {
  auto record = read_json(file);
  if (record.at("schema") == Record::schema &&
      !difference(record.at("environment"), environment, {"command_budget_seconds", "seed"}))
    return record;
  return nullptr;
} catch (const std::exception&) {
  return nullptr;  // there is none, or a foreign one, or one that was cut short
}

/// Makes the folder, and moves an earlier record and its samples aside rather than lose them.
/// Refuses where there is no room for so many cases: what a case leaves, twice, is half of this.
void prepare(const std::filesystem::path& folder, bool resume, std::size_t cases) {
  constexpr std::uintmax_t bytes_per_case = 12 * 1024;
  const auto file = folder / "record.json";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw std::runtime_error("cannot create " + folder.string() + ": " + error.message() +
                             "; choose another folder with --output");
  const auto free = std::filesystem::space(folder, error).available;
  if (!error && free < cases * bytes_per_case)
    throw std::runtime_error(folder.string() + " has " + std::to_string(free / 1024) +
                             " kB of free disk, and the record of " + std::to_string(cases) +
                             " cases may take " + std::to_string(cases * bytes_per_case / 1024) +
                             " kB: make room, or choose another folder with --output");
  if (resume || !std::filesystem::exists(file)) return;
  const auto move_aside = [&](const std::filesystem::path& from, const char* to) {
    std::filesystem::rename(from, folder / to, error);
    if (error && error != std::errc::no_such_file_or_directory)
      throw std::runtime_error("cannot move " + from.string() + " aside: " + error.message() +
                               "; choose another folder with --output");
  };
  move_aside(file, "record.previous.json");
  move_aside(folder / "samples.jsonl", "samples.previous.jsonl");
}

/// Says at which shapes there is too little memory before the run comes to them, if there are any,
/// and expects no time of these.
void announce_memory(std::vector<Case>& cases, const Gpu& gpu) {
  const auto host = static_cast<double>(make_cpu_target()->free_bytes());
  const auto device = static_cast<double>(gpu.device.value_or(Device{}).memory_bytes);
  std::map<std::pair<std::string, Backend>, Reason> known;
  std::set<std::string> shapes;
  std::string first;
  for (Case& c : cases) {
    if (c.verdict || refuse(*c.strategy, c.shape, gpu)) continue;
    const auto backend = c.strategy->launch.backend;
    const std::string shape = std::string(c.experiment->name) + " " + to_string(c.shape);
    const auto [at, is_new] = known.try_emplace({shape, backend});
    auto& reason = at->second;
    if (is_new)
      reason = too_little_memory(footprint(*c.experiment, c.shape, backend), device, host);
    if (!reason) continue;
    c.predicted = 0;
    if (shapes.insert(shape).second && first.empty()) first = shape + " " + *reason;
  }
  if (!shapes.empty())
    std::fprintf(stderr, "too little memory for %zu shape%s, unsupported therefore; first: %s\n",
                 shapes.size(), shapes.size() == 1 ? "" : "s", first.c_str());
}

void announce(const Record& record, const Gpu& gpu) {
  if (record.plan.preset != "quick")
    for (const auto& [experiment, shape, reason] : record.plan.dropped)
      std::fprintf(stderr, "dropped %s %s: %s\n", experiment.c_str(), shape.c_str(),
                   reason.c_str());
  std::fprintf(
      stderr, "%zu cases on %s, about %s\n", record.cases.size(),
      (gpu.device ? gpu.device->name : "this CPU; " + gpu.reason.value_or("")).c_str(),
      Progress::clock(predicted(record.cases, [](const Case& c) { return !c.verdict; })).c_str());
}

void summarize(const Record& record, const char* how, double seconds) {
  std::map<Status, int> counts;
  for (const auto& c : record.cases) ++counts[c.verdict ? c.verdict->status : Status::not_run];
  std::fprintf(stderr, "%s after %s:", how, Progress::clock(seconds).c_str());
  for (const auto& [status, count] : counts)
    std::fprintf(stderr, " %d %s", count, std::string(name_of(status)).c_str());
  std::fputc('\n', stderr);
  for (const auto& c : record.cases) {
    const Verdict verdict = c.verdict.value_or(Verdict{});
    if (verdict.status == Status::incorrect || verdict.status == Status::failed)
      std::fprintf(stderr, "%s %s: %s\n", std::string(name_of(verdict.status)).c_str(),
                   c.id().c_str(), verdict.reason.value_or("").c_str());
  }
}

/// A case has taken the device down, and has its verdict: a fresh process goes on behind it.
[[noreturn]] void start_anew(std::vector<char*> arguments, bool resumed) {
  static char resume[] = "--resume";
  if (!resumed) arguments.push_back(resume);
  arguments.push_back(nullptr);
  std::fprintf(stderr, "%sa case has taken the device down: going on in a new process\n",
               isatty(STDERR_FILENO) != 0 ? "\n" : "");
  execv("/proc/self/exe", arguments.data());
  throw std::runtime_error(
      "cannot start anew after a case has taken the device down; run again with --resume");
}

/// These experiments, and those about machine and measurement that they lack.
std::vector<Experiment> with_own(std::span<const Experiment> experiments) {
  std::vector<Experiment> all(experiments.begin(), experiments.end());
  for (auto&& own : {machine::experiment(), audit::experiment()})
    if (std::ranges::find(experiments, own.name, &Experiment::name) == experiments.end())
      all.push_back(own);
  return all;
}

int run(const std::string& program, int argc, char** argv, std::span<const Experiment> given) {
  std::string command = program;
  for (int i = 1; i < argc; ++i) command += " " + std::string(argv[i]);
  const std::vector<char*> words(argv, argv + argc);
  const auto experiments = with_own(given);
  auto arguments = words;
  Options options = parse(program, experiments, arguments);
  if (options.gate) return gate(given, options.choice);
  const auto planned = plan(experiments, options.choice);
  int left = static_cast<int>(arguments.size());
  benchmark::Initialize(&left, arguments.data());
  if (left > 1) throw std::invalid_argument("unknown flag '" + std::string(arguments[1]) + "'");

  SilentReporter silent;
  std::ostream nowhere(nullptr);
  silent.SetErrorStream(&nowhere);  // a filter without a match is told in our own one line
  const auto chosen = chosen_by_benchmark(planned.cases, silent);
  if (chosen.empty()) return 0;  // --benchmark_list_tests has printed them

  const auto file = options.output / "record.json";
  if (has_journal(options.output) && !options.resume)
    throw std::runtime_error(options.output.string() +
                             " holds a run that was killed: go on with --resume, or remove " +
                             (options.output / "record.journal.jsonl").string());
  const Gpu gpu = find_gpu();
  // by themselves the CPU rows decide little, and minutes are too much to wait for it
  options.settings.budget_seconds = options.per_case.value_or(gpu.device ? 1 : 0.2);
  Record record{.experiments = experiments,
                .environment = environment(gpu, command, options.settings),
                .ceilings = ceilings(gpu),
                .plan = planned.plan,
                .cases = {}};
  for (const auto& c : planned.cases)
    if (chosen.contains(c.id())) record.cases.push_back(c);
  if (record.cases.size() < planned.cases.size()) record.plan.preset = "chosen";

  Progress progress(record.cases);
  const auto budget = options.settings.command_budget_seconds;
  if (options.resume) {
    const auto earlier = read_earlier(options.output);
    record.resume(earlier);
    predict(record.cases, options.settings, gpu, earlier);
  } else {
    predict(record.cases, options.settings, gpu, record_to_predict_by(file, record.environment));
    if (budget)
      std::ranges::move(fit(record.cases, *budget - progress.elapsed(), options.budget),
                        std::back_inserter(record.plan.dropped));
  }
  const double earlier_seconds = record.wall_seconds;
  const Ledger earlier_overhead = record.overhead;
  prepare(options.output, options.resume, record.cases.size());
  Journal journal(options.output, record);
  announce_memory(record.cases, gpu);
  announce(record, gpu);

  std::signal(SIGINT, [](int) {
    if (interrupted) std::_Exit(130);  // asked twice: go at once; what is saved stays
    interrupted = true;
  });
  for (const int end : {SIGTERM, SIGHUP}) std::signal(end, [](int) { interrupted = true; });
  std::signal(SIGPIPE, SIG_IGN);  // nobody reads the progress any more: measure on

  double saving = 0;
  const auto book = [&](Ledger spent) {
    record.wall_seconds = earlier_seconds + progress.elapsed();
    spent.saving = saving;
    record.overhead = earlier_overhead + spent;
  };
  // a verdict comes to a case in many places: whatever follows, more often than not, finds it here
  std::vector<bool> kept(record.cases.size());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = record.cases[i].verdict.has_value();
  const auto keep = [&](const Ledger& spent) {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (kept[i] || !record.cases[i].verdict) continue;
      const Spend time(saving);
      book(spent);
      journal.append(record.cases[i], record);
      kept[i] = true;
    }
  };
  const auto time_left = [&] {
    return budget ? *budget - earlier_seconds - progress.elapsed() : HUGE_VAL;
  };
  bool out_of_time = false;
  const auto give_up = [&](Case& c) {
    if (c.verdict) return;
    c.verdict = {Status::not_run, "--budget of " + options.budget + " used up", {}};
    c.predicted = 0;
  };
  Session session(
      options.settings, gpu,
      [&](const Case& c) {
        keep(session.ledger());
        progress.show(c);
        if (time_left() > 0) return;
        out_of_time = true;
        interrupted = true;  // as far as the session is concerned
      },
      [&] { keep(session.ledger()); });

  // the second pass: the first case of a shape has all chosen cases of that shape measured, in
  // rounds; the others find theirs done
  const auto measure = [&](const Case& first) {
    if (first.verdict || interrupted) return;
    std::vector<Case*> group;
    for (Case& c : record.cases)
      if (together(c, first)) group.push_back(&c);
    progress.begin(first);
    // a shape that will not be through in time is not begun, nor one at the cost of a headline
    const double needed = expected(record.cases, [&](const Case& c) {
      return !c.verdict && (together(c, first) || (is_headline(c) && !is_headline(first)));
    });
    if (needed > time_left()) {
      for (Case* c : group) give_up(*c);
      return;
    }
    try {
      session.measure(group);
    } catch (const DeviceLost&) {
      keep(session.ledger());
      start_anew(words, options.resume);
    }
  };
  register_cases(record.cases, measure);
  if (options.benchmark_prints)
    benchmark::RunSpecifiedBenchmarks();
  else
    benchmark::RunSpecifiedBenchmarks(&silent);
  progress.end();

  if (out_of_time) std::ranges::for_each(record.cases, give_up);
  const bool stopped = interrupted && !out_of_time;
  record.finished = !stopped;
  book(session.ledger());
  journal.close(record);
  summarize(record, stopped ? "interrupted" : "finished", progress.elapsed());
  std::fprintf(stderr, "record: %s\n", file.c_str());
  return stopped ? 130 : 0;
}

}  // namespace

int main(int argc, char** argv, std::span<const Experiment> experiments) {
  const auto program = std::filesystem::path(argc > 0 ? argv[0] : "recheck").filename().string();
  try {
    return run(program, argc, argv, experiments);
  } catch (const std::invalid_argument& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace recheck
