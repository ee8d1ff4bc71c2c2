// SPDX-License-Identifier: Apache-2.0
//
// The main program: options, plan and record; the run, shape by shape; its end.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "../../recheck.hpp"
#include "../base/text.hpp"
#include "../case/rescue.hpp"
#include "../keep/conditions.hpp"
#include "../keep/journal.hpp"
#include "../plan/options.hpp"
#include "../plan/progress.hpp"
#include "../prove/edge_proofs.hpp"
#include "../prove/inputs.hpp"
#include "../self/self.hpp"
#include "../time/first.hpp"
#include "../time/runner.hpp"
#include "benchmarks.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

/// Creates the folder, and moves an earlier record with its samples aside.
void prepare(const std::filesystem::path& folder, bool resume) {
  const std::string advice = "; choose another folder with --output";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw std::runtime_error("cannot create " + folder.string() + ": " + error.message() + advice);
  if (resume) return;
  const std::pair<const char*, const char*> moves[] = {
      {"record.json", "record.previous.json"},
      {"samples.jsonl", "samples.previous.jsonl"},
      {"record.journal.jsonl", "record.previous.journal.jsonl"}};  // of a killed run
  for (const auto& [from, to] : moves) {
    std::filesystem::rename(folder / from, folder / to, error);
    if (error && error != std::errc::no_such_file_or_directory)
      throw std::runtime_error("cannot move " + (folder / from).string() +
                               " aside: " + error.message() + advice);
  }
}

void announce(const Record& record, const Gpu& gpu) {
  for (const auto& [experiment, shape, reason] : record.coverage.dropped)
    std::fprintf(stderr, "dropped %s %s: %s\n", experiment.c_str(), shape.c_str(), reason.c_str());
  std::fprintf(
      stderr, "%zu cases on %s, about %s\n", record.cases.size(),
      (gpu.device ? gpu.device->name : "this CPU; " + gpu.reason.value_or("")).c_str(),
      Progress::clock(predicted(record.cases, [](const Case& c) { return !c.result; })).c_str());
}

void summarize(const Record& record, double seconds) {
  std::map<Status, int> counts;
  for (const auto& c : record.cases) ++counts[c.result.value_or(Result{}).status];
  std::fprintf(stderr, "%s after %s:", record.finished ? "finished" : "interrupted",
               Progress::clock(seconds).c_str());
  for (const auto& [status, count] : counts)
    std::fprintf(stderr, " %d %s", count, std::string(name_of(status)).c_str());
  std::fputc('\n', stderr);
  for (const auto& c : record.cases) {
    const Status status = c.result.value_or(Result{}).status;
    if (status == Status::incorrect || status == Status::failed)
      std::fprintf(stderr, "%s %s: %s\n", std::string(name_of(status)).c_str(), c.id().c_str(),
                   Json::parse(lines_of(c).record).value("reason", "").c_str());
  }
}

/// Measures the cases of a record, shape by shape, and journals their results.
class Run {
 public:
  /// Starts the journal in options.output with the record's results so far.
  Run(const Options& options, const Settings& settings, const Gpu& gpu, Record& record,
      Progress& progress)
      : settings_(settings),
        record_(record),
        progress_(progress),
        earlier_seconds_(record.wall_seconds),
        journal_(options.output, record),
        runner_(settings, gpu,
                {.on_case = [&](const Case& c) { watch_time(c); },
                 .on_finish = [&](const Case& c) { keep(c); },
                 .take_load = [&] { return load(); }}) {
    if (gpu.device && !options.slow_cpu) monitor_.emplace(gpu.device->pci_bus_id);
  }

  /// Fails the cases of the row that ended the previous process, if any. Throws std::runtime_error,
  /// in one line, if none of them is left: that row would end this process too.
  void fail_lost_row() {
    const auto lost = lost_row();
    if (!lost) return;
    bool any = false;
    for (Case& c : record_.cases) {
      if (c.result || !c.id().starts_with(lost->row + "/")) continue;
      runner_.reporter().finish(c, because(ReasonCode::process_died, lost->why));
      any = true;
    }
    if (!any) throw std::runtime_error(lost->row + ": " + lost->why + "; fix it, or leave it out");
  }

  /// Ends the cases of rows that cannot run here, so that they have a result even if the run stops.
  void refuse_rows() {
    std::vector<Case*> cases(record_.cases.size());
    std::ranges::transform(record_.cases, cases.begin(), [](Case& c) { return &c; });
    runner_.refuse_rows(cases);
  }

  /// Measures the unfinished cases, one shape after another: all rows of a shape share its rounds.
  /// Throws DeviceLost after saving all results.
  void measure() {
    for (const Case& first : record_.cases)
      if (!first.result && !interrupted) measure_shape(first);
  }

  /// Writes the record. Returns whether the run went through to its end.
  bool close() {
    progress_.end();
    look_around(true);
    if (out_of_time_)
      for (Case& c : record_.cases) give_up(c);
    record_.finished = !interrupted || out_of_time_;
    record_.wall_seconds = earlier_seconds_ + progress_.elapsed();
    journal_.close(record_);
    summarize(record_, progress_.elapsed());
    return record_.finished;
  }

 private:
  /// Plans, proves, times and keeps the cases of a shape; `first` is its first unfinished one.
  void measure_shape(const Case& first) {
    std::vector<Case*> group;
    for (Case& c : record_.cases)
      if (together(c, first)) group.push_back(&c);
    progress_.begin(first);
    look_around(false);
    // skip shapes that will not finish in time, or that would leave no time for a headline shape
    const double needed = expected(record_.cases, [&](const Case& c) {
      return !c.result && (together(c, first) || (c.is_headline() && !first.is_headline()));
    });
    if (needed > time_left())
      for (Case* c : group) give_up(*c);
    else
      runner_.run(group);
  }

  void watch_time(const Case& c) {
    progress_.show(c);
    if (time_left() > 0) return;
    out_of_time_ = true;
    interrupted = true;  // for runner and timer
  }

  void keep(const Case& c) {
    look_around(false);
    record_.wall_seconds = earlier_seconds_ + progress_.elapsed();
    journal_.append(c, record_);
  }

  /// Prints which other processes have started to use the GPU. Nothing is being timed meanwhile.
  void look_around(bool due) {
    if (!monitor_) return;
    for (const auto& change : monitor_->look(due)) progress_.say(change);
    monitor_->note(record_.environment);
  }

  Load load() {
    look_around(false);
    return monitor_ ? monitor_->take() : Load{};
  }

  [[nodiscard]] double time_left() const {
    const auto budget = settings_.command_budget_seconds;
    return budget ? *budget - earlier_seconds_ - progress_.elapsed() : HUGE_VAL;
  }

  void give_up(Case& c) const {
    if (c.result) return;
    c.predicted = 0;
    const auto budget = short_text(settings_.command_budget_seconds.value_or(0));
    runner_.reporter().finish(c,
                              because(ReasonCode::budget, "--budget of " + budget + " s used up"));
  }

  const Settings& settings_;
  Record& record_;
  Progress& progress_;
  double earlier_seconds_;
  Journal journal_;
  Runner runner_;
  std::optional<LoadMonitor> monitor_;
  bool out_of_time_ = false;
};

/// Predicts how long each case takes, and drops cases until the rest fits the budget, unless an
/// earlier run has done so.
void predict_and_fit(Record& record, const Options& options, const Settings& settings,
                     const Gpu& gpu, const Progress& progress) {
  predict(record.cases, settings, gpu, make_cpu_target()->free_bytes());
  if (const auto budget = settings.command_budget_seconds; budget && !options.resume)
    std::ranges::move(fit(record.cases, *budget - progress.elapsed(), options.budget),
                      std::back_inserter(record.coverage.dropped));
}

/// Keeps finished cases, and the CPU's that should occupy one core for a second or more. A library
/// uses all. Returns whether one of these is left to measure.
bool keep_slow_cpu_rows(std::vector<Case>& cases) {
  const auto left = [](const Case& c) { return !c.result; };
  std::erase_if(cases, [&](const Case& c) {
    return left(c) &&
           (c.backend() != Backend::cpu || c.strategy->role == Role::baseline || c.predicted < 1);
  });
  return std::ranges::any_of(cases, left);
}

/// Settings from the flags, otherwise from the environment of the resumed run, otherwise the
/// defaults.
Settings settings_of(const Options& options, const Json& was, const Gpu& gpu) {
  const auto had = [&](const char* member, auto otherwise) {
    const bool known = was.contains(member) && was[member].is_number();
    return known ? was[member].get<decltype(otherwise)>() : otherwise;
  };
  // CPU rows alone decide few claims, so they get less time
  const double per_case = had("budget_seconds", gpu.device ? 1 : 0.2);
  const double budget = had("command_budget_seconds", 0.0);
  return {.budget_seconds = options.per_case.value_or(per_case),
          .seed = options.seed.value_or(had("seed", Settings{}.seed)),
          .command_budget_seconds =
              options.command_budget || budget <= 0 ? options.command_budget : budget};
}

/// The plan and settings, with the last run's results if `options` ask to resume it. If there is
/// nothing to resume, this run starts over and drops --resume from `options`. Damaged files, and
/// those of another machine, are set aside first.
std::pair<Settings, Record> resume_or_begin(Options& options,
                                            std::span<const Experiment> experiments,
                                            const Planned& planned, const Gpu& gpu) {
  const auto begin = [&](std::optional<Earlier> earlier) {
    const Json was = earlier ? earlier->head.at("environment") : Json::object();
    const Settings settings = settings_of(options, was, gpu);
    Record record{.experiments = experiments,
                  .environment = environment(gpu, options.command, settings),
                  .ceilings = ceilings(gpu),
                  .coverage = planned.coverage,
                  .cases = planned.cases};
    if (gpu.device && options.slow_cpu) {
      // the caller counts launches meanwhile, so what is on the GPU is its own
      record.environment["state"]["other_processes"] = nullptr;
      record.environment["unknown"]["state.other_processes"] = "not measured: only CPU rows ran";
    }
    if (earlier) record.resume(std::move(*earlier));
    return std::pair{settings, std::move(record)};
  };
  if (options.resume) {
    std::string why = "nothing was begun in " + options.output.string();
    try {
      if (auto earlier = read_earlier(options.output)) return begin(std::move(earlier));
    } catch (const std::runtime_error& error) {
      if (is_rescue()) throw;       // do not set aside this run's own journal
      has_journal(options.output);  // nor that of a run that has begun meanwhile
      why = error.what() + ("; moved to " + set_aside(options.output).string());
    }
    std::fprintf(stderr, "%s; measuring from the start\n", why.c_str());
    options.resume = false;
    const std::string flag = " --resume";
    if (const auto at = options.command.find(flag); at != std::string::npos)
      options.command.erase(at, flag.size());
  }
  return begin({});
}

/// Signals end the run in order; a second SIGINT exits at once, and saved results stay.
void heed_signals() {
  const auto interrupt = [](int signal) {
    if (interrupted && signal == SIGINT) std::_Exit(130);
    interrupted = true;
  };
  for (const int end : {SIGTERM, SIGHUP}) std::signal(end, interrupt);
  // ignored if the parent handles it
  if (std::signal(SIGINT, interrupt) == SIG_IGN) std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);  // a reader of the progress may leave: keep measuring
}

/// Measures the plan on the GPU that this process sees. Returns the exit code.
int measure(Options options, std::span<const Experiment> experiments, const Planned& planned) {
  options.resume |= is_rescue();
  has_journal(options.output);  // throws if another run is writing
  const Gpu gpu = find_gpu();
  const auto on_gpu = [](const Case& c) { return c.backend() == Backend::gpu; };
  if (gpu.device && !options.force && std::ranges::any_of(planned.cases, on_gpu))
    refuse_blocking_launches();
  auto [settings, record] = resume_or_begin(options, experiments, planned, gpu);
  Progress progress(record.cases);
  predict_and_fit(record, options, settings, gpu, progress);
  if (options.slow_cpu && !keep_slow_cpu_rows(record.cases)) return 0;
  prepare(options.output, options.resume);
  Run run(options, settings, gpu, record, progress);
  run.fail_lost_row();
  announce(record, gpu);
  heed_signals();
  try {
    set_patience(most_budgets_of_a_proof * settings.budget_seconds);
    run.refuse_rows();
    run.measure();
  } catch (const DeviceLost&) {
    progress.say("a case has crashed the device: continuing in a new process");
    restart_process();
    throw;
  }
  const bool finished = run.close();
  if (options.benchmark_prints) print_benchmarks(record.cases);
  std::fprintf(stderr, "record: %s\n", (options.output / "record.json").c_str());
  return finished ? 0 : 130;
}

int run(const std::string& program, const std::vector<char*>& words,
        std::span<const Experiment> given) {
  const auto experiments = with_self(given);
  if (words.size() == 2 && std::string_view(words[1]).starts_with(first_flag))
    return run_first(experiments, std::string_view(words[1]).substr(first_flag.size()));
  auto arguments = words;
  const Options options = parse(program, experiments, arguments);
  if (options.nonce) nonce() = *options.nonce;
  if (options.recover) {
    recover(options.output);
    return 0;
  }
  if (options.gate) {
    // experiments about the machine and the harness are proven only if named
    const Choice& choice = options.choice;
    if (!choice.cases.empty()) set_patience(most_budgets_of_a_proof);
    const bool all = choice.experiments.empty() && choice.cases.empty();
    return rescued([&] { return run_gate(all ? given : experiments, choice); });
  }
  Planned planned = plan(experiments, options.choice);
  if (options.benchmark_prints) {
    initialize_benchmarks(arguments);
    if (options.benchmark_lists) {
      list_benchmarks(planned.cases);
      return 0;
    }
    auto chosen = filtered(planned.cases);
    if (chosen.size() < planned.cases.size()) planned.coverage.preset = "chosen";
    planned.cases = std::move(chosen);
  }
  return rescued([&] { return measure(options, experiments, planned); });
}

}  // namespace

int main(int argc, char** argv, std::span<const Experiment> experiments) {
  // Google Benchmark's variables have no effect
  constexpr std::string_view variables[] = {"BENCHMARK_"};
  begin_again_without(variables, argv);
  const std::vector<char*> words(argv, argv + argc);
  const auto program = std::filesystem::path(argc > 0 ? argv[0] : "recheck").filename().string();
  try {
    return run(program, words, experiments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
    return dynamic_cast<const std::invalid_argument*>(&error) != nullptr ? 2 : 1;
  }
}

}  // namespace recheck
