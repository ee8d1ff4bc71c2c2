// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <numeric>
#include <random>

namespace recheck {

std::atomic<bool> interrupted = false;

namespace {

// when to stop sampling: the median's 95% interval, relative, that satisfies at once, and the one
// that has to do once a case has used its budget; beyond some budgets a case ends with what it has
constexpr double precise = 0.005, precise_enough = 0.009;
// (one on a CPU: where its samples still scatter after that they have several modes, and no number
// of samples makes their median narrow)
constexpr double most_budgets(Backend backend) { return backend == Backend::cpu ? 1 : 2.5; }
// timed by the host, samples scatter more, and finer is not worth the wait
constexpr bool host_timed(const Case& c) {
  return c.regime == Regime::end_to_end || c.strategy->launch.backend == Backend::cpu;
}

// a case is tried only if its proofs and fewest samples are predicted to fit into this many budgets
constexpr double patience = 20;
constexpr int launches_at_least = 2 + fewest_samples;

// launches shorter than this say little about larger shapes
constexpr double long_launch = 1e-3;

constexpr std::size_t most_samples = 1000;

// samples of a clock below this part of the device's own say more about heat than about the kernel
constexpr double throttled = 0.75;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool open(const Case* c) { return !c->verdict; }

std::vector<Case*> select(std::span<Case* const> cases, auto predicate) {
  std::vector<Case*> chosen;
  std::ranges::copy_if(cases, std::back_inserter(chosen), predicate);
  return chosen;
}

}  // namespace

Session::Session(const Settings& settings, Gpu gpu, std::function<void(const Case&)> show,
                 std::function<void()> save)
    : settings_(settings),
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
  for (Case* c : cases)
    if (open(c)) c->verdict = refuse(*c->strategy, c->shape, gpu_);
  for (const auto backend : {Backend::cpu, Backend::gpu}) {
    const auto own =
        select(cases, [&](Case* c) { return open(c) && c->strategy->launch.backend == backend; });
    if (!own.empty() && !interrupted) attempt(backend, own);
  }
  save_();
}

/// Runs `body`; what it throws becomes the verdict of `cases`.
template <typename Body>
void Session::guarded(std::span<Case* const> cases, Target& target, Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    for (Case* c : cases)
      c->verdict = {Status::failed, memory ? "out of host memory" : error.what(), {}};
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
                                        settings_.seed);
  });
  if (!bench) return;

  for (const auto& strategy : wanted[0]->experiment->ladder) {
    const auto own = select(wanted, [&](Case* c) { return c->strategy == &strategy; });
    if (own.empty() || interrupted) continue;
    show_(*own[0]);
    guarded(own, *where, [&] { prove(*bench, strategy, own); });
  }
  if (interrupted) return;
  for (const auto regime : regimes) {
    // what is still open has passed
    time(*bench, select(wanted, [&](Case* c) { return open(c) && c->regime == regime; }));
    save_();
  }
}

void Session::prove(Workbench& bench, const Strategy& strategy, std::span<Case* const> cases) {
  const auto verdict = bench.verify(strategy);
  seconds_[&strategy] = bench.proof_seconds();
  if (verdict.status != Status::passed)
    for (Case* c : cases) c->verdict = verdict;
}

void Session::time(Workbench& bench, std::vector<Case*> cases) {
  if (cases.empty()) return;
  Target& where = target(cases[0]->strategy->launch.backend);
  std::vector<Run> runs;
  runs.reserve(cases.size());
  const int repeats = cases[0]->regime == Regime::inner ? inner_repeats : 1;
  for (Case* c : cases) runs.push_back({c, bench.launch(*c->strategy, repeats), repeats, 0, {}});
  const auto quickest =
      std::ranges::min_element(runs, {}, [&](const Run& run) { return seconds_[run.c->strategy]; });
  guarded(std::span(&quickest->c, 1), where, [&] { where.warm_up(quickest->launch); });

  // in rounds of random order, so that a drift of clock or temperature meets all alike
  std::mt19937_64 random(settings_.seed);
  for (;;) {
    std::erase_if(runs, [](const Run& run) { return !open(run.c); });
    if (runs.empty()) return;
    std::ranges::shuffle(runs, random);
    for (Run& run : runs) {
      if (interrupted) return;
      show_(*run.c);
      guarded(std::span(&run.c, 1), where, [&] { sample(bench, where, run); });
      if (!open(run.c)) save_();
    }
  }
}

void Session::sample(Workbench& bench, Target& where, Run& run) {
  Case& c = *run.c;
  double& seconds = seconds_[c.strategy];
  const int count = std::clamp(static_cast<int>(0.02 / (seconds * run.repeats)), 1, 20);
  const bool copied = c.regime == Regime::end_to_end;
  const double start = now();
  if (!copied) bench.poison();
  Samples samples = copied ? bench.end_to_end(*c.strategy, count)
                           : where.sample(c.regime, run.launch, count, seconds * run.repeats);
  for (auto& sample : samples.seconds) sample /= run.repeats;
  run.spent += now() - start;
  const double budgets = run.spent / settings_.budget_seconds;
  const double own_clock = gpu_.device.value_or(Device{}).clock_hz;
  if (samples.clock_hz && *samples.clock_hz < throttled * own_clock) {
    c.discarded += count;
  } else {
    c.samples.insert(c.samples.end(), samples.seconds.begin(), samples.seconds.end());
    if (samples.clock_hz) run.clocks.push_back(*samples.clock_hz);
  }

  const auto interval = median_interval(c.samples);
  if (!interval) {
    // too slow to have enough samples yet, or too hot ever to have them
    if (c.discarded > 0 && budgets >= patience)
      c.verdict = {Status::not_run, "throttled: the GPU's clock stayed below 75% of its own", {}};
    return;
  }
  if (!copied) seconds = interval->median;
  const bool enough = c.samples.size() >= 10 || seconds > 0.05;
  const bool narrow =
      interval->precision() <= (budgets > 1 || host_timed(c) ? precise_enough : precise);
  if (!(enough && narrow) && budgets < most_budgets(c.strategy->launch.backend) &&
      c.samples.size() < most_samples)
    return;

  c.verdict = copied ? bench.recheck_end_to_end(*c.strategy) : bench.recheck(*c.strategy);
  if (c.verdict->status != Status::passed) return;
  c.seconds = interval;
  if (!run.clocks.empty())
    c.clock_hz = std::accumulate(run.clocks.begin(), run.clocks.end(), 0.0) /
                 static_cast<double>(run.clocks.size());
  if (!copied && seconds >= long_launch) {
    // the best pace so far: a size that happens to be slow should not condemn its neighbours
    const double pace = seconds / c.work().size();
    const auto [known, fresh] = pace_.try_emplace(c.strategy, pace);
    if (!fresh) known->second = std::min(known->second, pace);
  }
}

Reason Session::too_large(const Case& c, Target& where) const {
  if (c.experiment->terms(c.shape) >= 1 << 24)
    return "sums of 2^24 terms and more have no error bound in fp32, so nothing could be proven";
  const auto needed = footprint(*c.experiment, c.shape, where.backend());
  const auto lacking = [](double bytes, const Target& target, const char* kind) -> Reason {
    const auto free = static_cast<double>(target.free_bytes());
    if (bytes <= free) return {};
    return "needs " + short_text(bytes / 1e9) + " GB of " + kind + " memory, " +
           short_text(free / 1e9) + " GB are free";
  };
  if (where.backend() == Backend::gpu)
    if (auto reason = lacking(needed.device, where, "device")) return reason;
  return lacking(needed.host, *cpu_, "host");
}

Reason Session::too_slow(const Case& c, Target& where) {
  const double size = c.work().size();
  if (!pace_.contains(c.strategy)) {
    // nothing long enough has been timed: try a smaller shape of the same proportions
    const double probe_size = 1e9;
    if (size <= 4 * probe_size) return {};
    Shape small = c.shape;
    const double scale = std::pow(probe_size / size, 1 / static_cast<double>(small.size()));
    for (auto& extent : small)
      extent = std::max<std::int64_t>(1, std::llround(static_cast<double>(extent) * scale));
    if (refuse(*c.strategy, small, gpu_)) return {};
    Workbench bench(*c.experiment, small, where, 0, settings_.seed);
    bench.verify(*c.strategy);
    pace_[c.strategy] = bench.proof_seconds() / c.experiment->work(*c.strategy, small).size();
  }
  const double predicted = pace_[c.strategy] * size;
  const double allowed = patience * settings_.budget_seconds;
  if (predicted * launches_at_least <= allowed) return {};
  return "predicted " + short_text(predicted) + " s a launch: proof and " +
         std::to_string(fewest_samples) + " samples would take more than " + short_text(allowed) +
         " s, " + short_text(patience) + " times --budget";
}

}  // namespace recheck
