// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <random>
#include <sstream>

namespace recheck {

std::atomic<bool> interrupted = false;

namespace {

/// Thrown when an error has taken the device's context with it: every later call would fail alike.
struct DeviceLost {};

constexpr int launches_before_done = 3 + fewest_samples;  // two proofs, a warm-up, the samples

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string text(double value) {
  std::ostringstream out;
  out.precision(3);
  out << value;
  return out.str();
}

bool open(const Case* c) { return !c->verdict; }

std::vector<Case*> select(std::span<Case* const> cases, auto predicate) {
  std::vector<Case*> chosen;
  std::ranges::copy_if(cases, std::back_inserter(chosen), predicate);
  return chosen;
}

}  // namespace

Session::Session(const Options& options, Gpu gpu, std::function<void(const Case&)> show,
                 std::function<void()> save)
    : options_(options),
      gpu_(std::move(gpu)),
      show_(std::move(show)),
      save_(std::move(save)),
      cpu_(make_cpu_target()) {}

Target& Session::target(Backend backend) {
  if (backend == Backend::cpu) return *cpu_;
  if (!gpu_target_) gpu_target_ = make_gpu_target(*gpu_.device);
  return *gpu_target_;
}

void Session::measure(std::span<Case* const> cases) {
  for (const auto backend : {Backend::cpu, Backend::gpu}) {
    for (;;) {
      for (Case* c : cases)
        if (open(c)) c->verdict = refuse(*c->strategy, c->shape, gpu_);
      const auto own =
          select(cases, [&](Case* c) { return open(c) && c->strategy->launch.backend == backend; });
      if (own.empty() || interrupted) break;
      try {
        attempt(backend, own);
        break;
      } catch (const DeviceLost&) {
        // the case at fault has its verdict; the others get a fresh device
        gpu_target_.reset();
        if (revive_gpu()) continue;
        gpu_.device.reset();
        gpu_.reason = "the CUDA device was lost to an earlier case and did not come back";
      }
    }
  }
  save_();
}

/// Runs `body`; what it throws becomes the verdict of `cases`.
template <typename Body>
void Session::guarded(std::span<Case* const> cases, Target& target, Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    for (Case* c : cases) c->verdict = {Status::failed, error.what(), {}};
    try {
      target.synchronize();
    } catch (const std::exception&) {
      throw DeviceLost{};
    }
  }
}

void Session::attempt(Backend backend, std::span<Case* const> cases) {
  Target* where = nullptr;
  guarded(cases, *cpu_, [&] { where = &target(backend); });
  if (where == nullptr) return;

  for (Case* c : cases) {
    guarded(std::span(&c, 1), *where, [&] {
      if (auto reason = too_large(*c, *where))
        c->verdict = {Status::unsupported, reason, {}};
      else if (auto slow = too_slow(*c, *where))
        c->verdict = {Status::not_run, slow, {}};
    });
  }
  const auto wanted = select(cases, open);
  if (wanted.empty()) return;

  std::unique_ptr<Workbench> bench;
  guarded(wanted, *where, [&] {
    bench = std::make_unique<Workbench>(*wanted[0]->experiment, wanted[0]->shape, *where, 0,
                                        options_.seed);
  });
  if (!bench) return;

  std::vector<Case*> proven;
  for (const auto& strategy : wanted[0]->experiment->ladder) {
    const auto own = select(wanted, [&](Case* c) { return c->strategy == &strategy; });
    if (own.empty() || interrupted) continue;
    show_(*own[0]);
    bool passed = false;
    guarded(own, *where, [&] { passed = prove(*bench, strategy, own); });
    if (passed) proven.insert(proven.end(), own.begin(), own.end());
  }
  for (const auto regime : {Regime::cold, Regime::hot, Regime::end_to_end}) {
    time(*bench, regime, select(proven, [&](Case* c) { return c->regime == regime; }));
    save_();
  }
}

bool Session::prove(Workbench& bench, const Strategy& strategy, std::span<Case* const> cases) {
  const auto verdict = bench.verify(strategy);
  if (verdict.status == Status::passed) return true;
  for (Case* c : cases) c->verdict = verdict;
  return false;
}

void Session::time(Workbench& bench, Regime regime, std::vector<Case*> cases) {
  struct Run {
    Case* c;
    std::function<void()> launch;
    double seconds = 1e-3;  // about what one takes
    double spent = 0;
    double clock_sum = 0;
    int clock_count = 0;
  };
  if (cases.empty()) return;
  Target& where = target(cases[0]->strategy->launch.backend);
  const auto sample = [&](Run& run, int count) {
    if (regime != Regime::end_to_end) return where.sample(regime, run.launch, count, run.seconds);
    Samples samples;
    for (int i = 0; i < count; ++i) samples.seconds.push_back(bench.end_to_end(*run.c->strategy));
    return samples;
  };

  // one sample of each to see how long it takes, and not for the record
  std::vector<Run> runs;
  for (Case* c : cases) {
    if (interrupted) return;
    Run run{c, bench.launch(*c->strategy)};
    guarded(std::span(&c, 1), where, [&] {
      if (runs.empty() && regime != Regime::end_to_end) where.warm_up(run.launch);
      run.seconds = std::max(sample(run, 1).seconds[0], 1e-7);
      runs.push_back(run);
    });
  }

  // the rest in rounds of random order, so that a drift of clock or temperature meets all alike
  std::mt19937_64 random(options_.seed);
  while (!runs.empty() && !interrupted) {
    std::ranges::shuffle(runs, random);
    for (Run& run : runs) {
      if (interrupted) return;
      Case& c = *run.c;
      show_(c);
      guarded(std::span(&run.c, 1), where, [&] {
        const int count = std::clamp(static_cast<int>(0.02 / run.seconds), 1, 20);
        const double start = now();
        bench.poison();
        const Samples samples = sample(run, count);
        run.spent += now() - start;
        c.samples.insert(c.samples.end(), samples.seconds.begin(), samples.seconds.end());
        if (samples.clock_hz) {
          run.clock_sum += *samples.clock_hz;
          ++run.clock_count;
        }

        const auto interval = median_interval(c.samples);
        const bool narrow = c.samples.size() >= 10 && interval->precision() <= options_.precision;
        const bool spent = run.spent > options_.budget_seconds || c.samples.size() >= 1000;
        if (!interval || (!narrow && !spent)) return;
        c.verdict = regime == Regime::end_to_end ? bench.recheck_copied(*c.strategy)
                                                 : bench.recheck(*c.strategy);
        if (c.verdict->status != Status::passed) return;
        c.seconds = interval;
        if (run.clock_count > 0) c.clock_hz = run.clock_sum / run.clock_count;
        if (regime != Regime::end_to_end)
          pace_[std::string(c.strategy->name)] = {c.experiment->work(c.shape).flops,
                                                  interval->median};
      });
    }
    std::erase_if(runs, [](const Run& run) { return !open(run.c); });
  }
}

Reason Session::too_large(const Case& c, Target& where) const {
  const double needed = bytes_needed(*c.experiment, c.shape);
  const auto gigabytes = [](double bytes) { return text(bytes / 1e9) + " GB"; };
  const auto over = [&](double bytes, Target& target, const char* kind) -> Reason {
    const auto free = static_cast<double>(target.free_bytes());
    if (bytes <= free) return {};
    return "needs " + gigabytes(bytes) + " of " + kind + " memory, " + gigabytes(free) +
           " are free";
  };
  // the inputs' and the output's copies on the host come on top of what a CPU strategy uses
  if (where.backend() == Backend::gpu)
    if (auto reason = over(needed, where, "device")) return reason;
  return over(where.backend() == Backend::gpu ? needed : 2 * needed, *cpu_, "host");
}

Reason Session::too_slow(const Case& c, Target& where) {
  const std::string name(c.strategy->name);
  const double flops = c.experiment->work(c.shape).flops;
  // a launch shorter than a millisecond tells little about larger shapes: probe one that tells more
  if (!pace_.contains(name) || pace_[name].seconds < 1e-3) {
    if (flops < 4e9) return {};
    Shape small = c.shape;
    const double scale = std::pow(1e9 / flops, 1.0 / static_cast<double>(small.size()));
    for (auto& extent : small)
      extent = std::max<std::int64_t>(1, std::llround(static_cast<double>(extent) * scale));
    if (refuse(*c.strategy, small, gpu_)) return {};
    Workbench bench(*c.experiment, small, where, 0, options_.seed);
    const auto launch = bench.launch(*c.strategy);
    launch();
    where.synchronize();
    const double start = now();
    launch();
    where.synchronize();
    pace_[name] = {c.experiment->work(small).flops, now() - start};
  }
  const double predicted = pace_[name].seconds * flops / pace_[name].flops;
  if (predicted * launches_before_done <= 20 * options_.budget_seconds) return {};
  return "predicted " + text(predicted) + " s a launch: proof and " +
         std::to_string(fewest_samples) + " samples would take more than " +
         text(20 * options_.budget_seconds) + " s (20 × --budget)";
}

}  // namespace recheck
