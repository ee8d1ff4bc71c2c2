// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "../audit/audit.hpp"
#include "../machine/machine.hpp"
#include "../recheck.hpp"
#include "benchmarks.hpp"
#include "bystanders.hpp"
#include "conditions.hpp"
#include "devices.hpp"
#include "flags.hpp"
#include "gate.hpp"
#include "journal.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "rescue.hpp"
#include "session.hpp"
#include "untrusted.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

/// A record that may serve to predict this run, if the folder has one; else null.
Json record_to_predict_by(const std::filesystem::path& file, const Json& environment) try {
  auto record = read_json(file);
  if (record.at("schema") == Record::schema &&
      !difference(record.at("environment"), environment, {"command_budget_seconds", "seed"})) {
    number(record, "wall_seconds", 0, 1e9);
    for (const Json& c : record.at("cases")) number(c, "spent", 0, 1e9);
    return record;
  }
  return nullptr;
} catch (const std::exception&) {
  return nullptr;  // there is none, or a foreign one, or one that was cut short or makes no sense
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
  const auto lines = expect_no_room(cases, gpu, make_cpu_target()->free_bytes());
  if (lines.empty()) return;
  std::fprintf(stderr, "too little memory for %zu shape%s, unsupported therefore; first: %s\n",
               lines.size(), lines.size() == 1 ? "" : "s", lines.front().c_str());
}

void announce(const Record& record, const Gpu& gpu) {
  if (record.coverage.preset != "quick")
    for (const auto& [experiment, shape, reason] : record.coverage.dropped)
      std::fprintf(stderr, "dropped %s %s: %s\n", experiment.c_str(), shape.c_str(),
                   reason.c_str());
  std::fprintf(
      stderr, "%zu cases on %s, about %s\n", record.cases.size(),
      (gpu.device ? gpu.device->name : "this CPU; " + gpu.reason.value_or("")).c_str(),
      Progress::clock(predicted(record.cases, [](const Case& c) { return !c.result; })).c_str());
}

void summarize(const Record& record, const char* how, double seconds) {
  std::map<Status, int> counts;
  for (const auto& c : record.cases) ++counts[c.result ? c.result->status : Status::not_run];
  std::fprintf(stderr, "%s after %s:", how, Progress::clock(seconds).c_str());
  for (const auto& [status, count] : counts)
    std::fprintf(stderr, " %d %s", count, std::string(name_of(status)).c_str());
  std::fputc('\n', stderr);
  for (const auto& c : record.cases) {
    const Result result = c.result.value_or(Result{});
    if (result.status == Status::incorrect || result.status == Status::failed)
      std::fprintf(stderr, "%s %s: %s\n", std::string(name_of(result.status)).c_str(),
                   c.id().c_str(), result.reason.value_or("").c_str());
  }
}

/// These experiments, and those about machine and measurement that they lack.
std::vector<Experiment> with_own(std::span<const Experiment> experiments) {
  std::vector<Experiment> all(experiments.begin(), experiments.end());
  for (auto&& own : {machine::experiment(), audit::experiment()})
    if (std::ranges::find(experiments, own.name, &Experiment::name) == experiments.end())
      all.push_back(own);
  return all;
}

/// Carries the cases of a record out, shape by shape, and keeps what it finds out.
class Run {
 public:
  /// Begins the journal in options.output, for what the record has come to so far.
  Run(const Options& options, const Gpu& gpu, Record& record, Progress& progress)
      : options_(options),
        record_(record),
        progress_(progress),
        earlier_seconds_(record.wall_seconds),
        earlier_overhead_(record.overhead),
        journal_(options.output, record),
        session_(
            options.settings, gpu, [&](const Case& c) { look_up(c); }, [&] { keep(); },
            [&] { return others(); }) {
    for (const Case& c : record.cases) kept_.push_back(c.result.has_value());
    if (gpu.device) bystanders_.emplace(gpu.device->pci_bus_id);
  }

  /// Measures all cases of a shape, in rounds, when the first of them is due; the others find
  /// theirs done. Throws DeviceLost, with all that was found out kept.
  void measure(const Case& first) {
    if (first.result || interrupted) return;
    std::vector<Case*> group;
    for (Case& c : record_.cases)
      if (together(c, first)) group.push_back(&c);
    progress_.begin(first);
    look_around(false);
    // a shape that will not be through in time is not begun, nor one at the cost of a headline
    const double needed = expected(record_.cases, [&](const Case& c) {
      return !c.result && (together(c, first) || (is_headline(c) && !is_headline(first)));
    });
    if (needed > time_left()) {
      for (Case* c : group) give_up(*c);
      return;
    }
    try {
      session_.measure(group);
    } catch (const DeviceLost&) {
      keep();
      throw;
    }
  }

  /// Writes the record; whether the run has gone through to its end.
  bool close() {
    progress_.end();
    look_around(true);
    if (out_of_time_)
      for (Case& c : record_.cases) give_up(c);
    record_.finished = !interrupted || out_of_time_;
    book();
    journal_.close(record_);
    summarize(record_, record_.finished ? "finished" : "interrupted", progress_.elapsed());
    return record_.finished;
  }

 private:
  /// Before each proof and each block of samples.
  void look_up(const Case& c) {
    keep();
    progress_.show(c);
    if (time_left() > 0) return;
    out_of_time_ = true;
    interrupted = true;  // as far as the session is concerned
  }

  /// Results are set in several places of a session: journals every case that has a new one.
  void keep() {
    bool new_ones = false;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i] || !record_.cases[i].result) continue;
      const Spend time(saving_);
      if (!new_ones) look_around(false);
      book();
      journal_.append(record_.cases[i], record_);
      kept_[i] = true;
      new_ones = true;
    }
    if (new_ones) journal_.require_place(record_);
  }

  /// Says who else has come to use the GPU, and which limit of it has changed, since the look
  /// before. Nothing is being timed meanwhile.
  void look_around(bool due) {
    if (!bystanders_) return;
    for (const auto& change : bystanders_->look(due))
      std::fprintf(stderr, "%s%s\n", isatty(STDERR_FILENO) != 0 ? "\n" : "", change.c_str());
    bystanders_->note(record_.environment);
    seen_.gpu_percent = std::max(seen_.gpu_percent, bystanders_->gpu_percent());
    seen_.hot |= bystanders_->hot();
  }

  /// The most that was seen since the call before.
  Others others() {
    look_around(false);
    const Others seen = std::exchange(seen_, {});
    if (bystanders_) seen_ = {bystanders_->gpu_percent(), bystanders_->hot()};
    return seen;
  }

  /// Brings the record's times up to now.
  void book() {
    Ledger spent = session_.ledger();
    spent.saving = saving_;
    record_.wall_seconds = earlier_seconds_ + progress_.elapsed();
    record_.overhead = earlier_overhead_ + spent;
  }

  [[nodiscard]] double time_left() const {
    const auto budget = options_.settings.command_budget_seconds;
    return budget ? *budget - earlier_seconds_ - progress_.elapsed() : HUGE_VAL;
  }

  void give_up(Case& c) const {
    if (c.result) return;
    c.result = {Status::not_run, "--budget of " + options_.budget + " used up", {}};
    c.predicted = 0;
  }

  const Options& options_;
  Record& record_;
  Progress& progress_;
  double earlier_seconds_;
  Ledger earlier_overhead_;
  Journal journal_;
  Session session_;
  std::optional<Bystanders> bystanders_;
  Others seen_;
  std::vector<bool> kept_;  // by case: whether it is in the journal
  double saving_ = 0;       // wall seconds
  bool out_of_time_ = false;
};

/// Takes over what an earlier run in the folder has found out, if this one is to go on behind it,
/// and says what each case is expected to take; drops cases until the budget is expected to
/// suffice.
void predict_and_fit(Record& record, const Options& options, const Gpu& gpu,
                     const Progress& progress) {
  if (options.resume) {
    const auto earlier = read_earlier(options.output);
    record.resume(earlier);
    fail_what_was_lost(record.cases);
    fail_what_was_killed(record.cases, options.output);
    predict(record.cases, options.settings, gpu, earlier);
    announce_memory(record.cases, gpu);
    return;
  }
  predict(record.cases, options.settings, gpu,
          record_to_predict_by(options.output / "record.json", record.environment));
  // before a budget makes room for what cannot be measured
  announce_memory(record.cases, gpu);
  if (const auto budget = options.settings.command_budget_seconds)
    std::ranges::move(fit(record.cases, *budget - progress.elapsed(), options.budget),
                      std::back_inserter(record.coverage.dropped));
}

/// A row that calls exit() while it is there ends no run, or ends it with an error.
class NoExit {
 public:
  NoExit() {
    active = true;
    std::atexit([] {
      if (!active) return;
      rescue_from_exit();
      std::fputs("\na row has called exit(), which ends all: mend it, or leave it out\n", stderr);
      std::_Exit(1);
    });
  }
  NoExit(const NoExit&) = delete;
  NoExit& operator=(const NoExit&) = delete;
  ~NoExit() { active = false; }

 private:
  static inline bool active = false;
};

/// The first signal has the run end in order; at a second it goes at once, and what is saved stays.
void heed_signals() {
  std::signal(SIGINT, [](int) {
    if (interrupted) std::_Exit(130);
    interrupted = true;
  });
  for (const int end : {SIGTERM, SIGHUP}) std::signal(end, [](int) { interrupted = true; });
  std::signal(SIGPIPE, SIG_IGN);  // nobody reads the progress any more: measure on
}

int run(const std::string& program, int argc, char** argv, std::span<const Experiment> given) {
  std::string command = program;
  for (int i = 1; i < argc; ++i) command += " " + std::string(argv[i]);
  const std::vector<char*> words(argv, argv + argc);
  const auto experiments = with_own(given);
  auto arguments = words;
  Options options = parse(program, experiments, arguments);
  if (!options.device.empty() && options.device != all_devices) see_alone(options.device);
  // of what is about machine and measurement it proves what is asked for by name
  const NoExit no_exit;
  if (options.gate)
    return gate(options.choice.experiments.empty() ? given : experiments, options.choice);

  initialize_benchmarks(arguments);
  const auto planned = plan(experiments, options.choice);
  auto chosen = filtered(planned.cases);
  if (options.benchmark_lists) {
    run_benchmarks(chosen, {}, true);
    return 0;
  }
  if (options.device == all_devices) return measure_all(words, options);
  if (!options.resume) require_no_journal(options.output);
  const Gpu gpu = find_gpu();
  const auto on_gpu = [](const Case& c) { return c.strategy->launch.backend == Backend::gpu; };
  if (gpu.device && !options.force && std::ranges::any_of(chosen, on_gpu))
    refuse_blocking_launches();
  if (!options.device.empty() && !gpu.device)
    throw std::invalid_argument("--device=" + options.device + ": " + gpu.reason.value_or("") +
                                "; nvidia-smi -L lists what there is");
  // by themselves the CPU rows decide little, and minutes are too much to wait for it
  options.settings.budget_seconds = options.per_case.value_or(gpu.device ? 1 : 0.2);
  Record record{.experiments = experiments,
                .environment = environment(gpu, command, options.settings),
                .ceilings = ceilings(gpu),
                .coverage = planned.coverage,
                .cases = std::move(chosen)};
  if (record.cases.size() < planned.cases.size()) record.coverage.preset = "chosen";
  if (gpu.device && options.gpus_at_once > 1)
    record.environment["state"]["gpus_at_once"] = options.gpus_at_once;

  Progress progress(record.cases);
  predict_and_fit(record, options, gpu, progress);
  prepare(options.output, options.resume, record.cases.size());
  Run run(options, gpu, record, progress);
  const RowOnDisk row_on_disk(options.output);
  announce(record, gpu);
  heed_signals();
  try {
    std::optional<Rescue> rescue;
    if (std::getenv("RECHECK_NO_RESCUE") == nullptr)
      rescue.emplace(words, most_budgets_of_a_proof * options.settings.budget_seconds);
    run_benchmarks(record.cases, [&](const Case& c) { run.measure(c); }, options.benchmark_prints);
  } catch (const DeviceLost&) {
    std::fprintf(stderr, "%sa case has taken the device down: going on in a new process\n",
                 isatty(STDERR_FILENO) != 0 ? "\n" : "");
    start_anew(words);
  }
  const bool finished = run.close();
  std::fprintf(stderr, "record: %s\n", (options.output / "record.json").c_str());
  return finished ? 0 : 130;
}

}  // namespace

int main(int argc, char** argv, std::span<const Experiment> experiments) {
  const auto program = std::filesystem::path(argc > 0 ? argv[0] : "recheck").filename().string();
  return exit_code(program, [&] { return run(program, argc, argv, experiments); });
}

}  // namespace recheck
