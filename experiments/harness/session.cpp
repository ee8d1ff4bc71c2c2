// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <numeric>
#include <random>

#include "method.hpp"

namespace recheck {

std::atomic<bool> interrupted = false;

namespace {

/// Whether the host is the clock.
constexpr bool host_timed(const Case& c) {
  return c.regime == Regime::end_to_end || c.strategy->launch.backend == Backend::cpu;
}

// once a proof has shown how long it takes, this many times what was allowed for is let through: a
// host that others use too may take half as long again as the one before
constexpr double leeway = 4;
constexpr int launches_at_least = 2 + fewest_samples;

// launches shorter than this say little about larger shapes
constexpr double long_launch = 1e-3;

/// Whether a case has been sampled enough; `budgets` is what that took.
bool content(const Case& c, const Interval& interval, double budgets) {
  const double precision = interval.precision();
  const double most = host_timed(c) ? method.most_budgets_host_timed : method.most_budgets;
  const bool enough = std::ssize(c.samples) >= method.wanted_samples &&
                      std::ssize(c.blocks) >= method.wanted_blocks;
  const bool narrow = precision <= (host_timed(c) ? method.precision_in_budget : method.precision);
  return (enough && narrow) || (budgets >= 1 && precision <= method.precision_in_budget) ||
         budgets >= most || std::ssize(c.samples) >= method.most_samples;
}

bool open(const Case* c) { return !c->result; }

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
  // without a device rows that need one have been refused
  if (!gpu_target_) gpu_target_ = make_target(backend, gpu_);
  return *gpu_target_;
}

void Session::measure(std::span<Case* const> cases) {
  for (Case* c : cases)
    if (open(c)) c->result = refuse(*c->strategy, c->shape, gpu_);
  for (const auto backend : {Backend::cpu, Backend::gpu}) {
    const auto own =
        select(cases, [&](Case* c) { return open(c) && c->strategy->launch.backend == backend; });
    if (!own.empty() && !interrupted) attempt(backend, own);
  }
  save_();
}

/// Runs `body`; what it throws becomes the result of `cases`.
template <typename Body>
void Session::guarded(std::span<Case* const> cases, Target& target, Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    for (Case* c : cases)
      c->result = {Status::failed, memory ? "out of host memory" : error.what(), {}};
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
    const Spend time(c->spent);
    guarded(std::span(&c, 1), *where, [&] {
      if (const auto reason = too_large(*c, *where))
        c->result = {Status::unsupported, reason, {}};
      else if (const auto slow = too_slow(*c, *where))
        c->result = {Status::not_run, slow, {}};
    });
  }
  const auto wanted = select(cases, open);
  if (wanted.empty()) return;

  std::unique_ptr<Workbench> bench;
  guarded(wanted, *where, [&] {
    const Spend time(wanted[0]->spent);
    bench = std::make_unique<Workbench>(*wanted[0]->experiment, wanted[0]->shape, *where, 0,
                                        settings_.seed, &ledger_);
  });
  if (!bench) return;

  for (const auto& strategy : wanted[0]->experiment->ladder) {
    const auto own = select(wanted, [&](Case* c) { return c->strategy == &strategy; });
    if (own.empty() || interrupted) continue;
    show_(*own[0]);
    const Spend time(own[0]->spent);
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
  const auto result = bench.verify(strategy);
  seconds_[&strategy] = bench.proof_seconds();
  if (result.status != Status::passed)
    for (Case* c : cases) c->result = result;
  else if (auto reason = too_long(bench.proof_seconds(), leeway * method.proof_budgets))
    for (Case* c : cases) c->result = {Status::not_run, "its proof took " + *reason, {}};
}

void Session::time(Workbench& bench, std::vector<Case*> cases) {
  if (cases.empty()) return;
  Target& where = target(cases[0]->strategy->launch.backend);
  std::vector<Run> runs;
  runs.reserve(cases.size());
  const int repeats = cases[0]->regime == Regime::inner ? inner_repeats : 1;
  for (Case* c : cases) runs.push_back({c, bench.launch(*c->strategy, repeats), repeats});
  const auto quickest =
      std::ranges::min_element(runs, {}, [&](const Run& run) { return seconds_[run.c->strategy]; });
  guarded(std::span(&quickest->c, 1), where, [&] {
    const Spend time(quickest->c->spent);
    where.warm_up(quickest->launch);
  });

  // in rounds of random order, so that a drift of clock or temperature meets all alike
  std::mt19937_64 random(settings_.seed);
  for (int round = 0;; ++round) {
    std::erase_if(runs, [](const Run& run) { return !open(run.c); });
    if (runs.empty()) return;
    std::ranges::shuffle(runs, random);
    for (Run& run : runs) {
      if (interrupted) return;
      show_(*run.c);
      guarded(std::span(&run.c, 1), where, [&] {
        const Spend time(run.c->spent);
        sample(bench, where, run, round);
      });
      if (!open(run.c)) save_();
    }
  }
}

/// What a launch takes without the latency that a proof contains, and how many make a sample.
void Session::calibrate(Target& where, Run& run) {
  double& seconds = seconds_[run.c->strategy];
  run.batch = 1;
  if (run.c->regime == Regime::end_to_end || seconds > 1e-3 || where.backend() == Backend::cpu)
    return;
  const auto samples =
      where.sample({run.c->regime, 3, 1, seconds * run.repeats}, run.launch).seconds;
  seconds = middle(samples) / run.repeats;
  // an event resolves about half a microsecond
  if (run.c->regime == Regime::hot && seconds < method.batch_below_seconds)
    run.batch = std::clamp(static_cast<int>(50e-6 / seconds), 1, 32);
}

void Session::sample(Workbench& bench, Target& where, Run& run, int round) {
  Case& c = *run.c;
  const double start = now();
  if (run.batch == 0) calibrate(where, run);
  take_block(bench, where, run, round);
  run.spent += now() - start;
  const double budgets = run.spent / settings_.budget_seconds;

  const auto interval = median_interval(c.samples);
  if (!interval) {
    // too slow to have enough samples yet, or too hot ever to have them
    if (c.discarded > 0 && budgets >= method.proof_budgets)
      c.result = {Status::not_run,
                  "throttled: the GPU's clock stayed below " +
                      std::to_string(std::lround(100 * method.throttled_below)) + "% of its own",
                  {}};
    return;
  }
  const bool copied = c.regime == Regime::end_to_end;
  if (!copied) seconds_[c.strategy] = interval->median;
  if (!content(c, *interval, budgets)) return;
  c.result = copied ? bench.recheck_end_to_end(*c.strategy) : bench.recheck(*c.strategy);
  if (c.result->status != Status::passed) return;
  c.seconds = interval;
  if (draws(c)) c.power = where.draw(run.launch, interval->median);
  if (!copied) note_pace(c, interval->median);
}

/// Adds the samples of one block to a case: few, so that a round soon comes to the next case, and
/// there are many rounds.
void Session::take_block(Workbench& bench, Target& where, Run& run, int round) {
  Case& c = *run.c;
  const bool copied = c.regime == Regime::end_to_end;
  const double launch_seconds = seconds_[c.strategy] * run.repeats * run.batch;
  const int count =
      std::clamp(static_cast<int>(method.block_seconds / launch_seconds), 1, method.block_samples);
  if (!copied) bench.poison();
  const double start = now();
  const Samples samples =
      copied ? bench.end_to_end(*c.strategy, count)
             : where.sample({c.regime, count, run.batch, launch_seconds}, run.launch);
  const double took = now() - start;
  const double timed =
      run.batch * std::accumulate(samples.seconds.begin(), samples.seconds.end(), 0.0);
  ledger_.verified_kernels += timed;
  ledger_.flushes_and_holds += std::max(0.0, took - timed);

  Block block{round, 0, {}};
  std::vector<double> clocks;
  const double least_clock = method.throttled_below * gpu_.device.value_or(Device{}).clock_hz;
  for (std::size_t i = 0; i < samples.seconds.size(); ++i) {
    const double clock = samples.clock_hz.empty() ? 0 : samples.clock_hz[i];
    if (clock > 0 && clock < least_clock) {
      ++c.discarded;
      continue;
    }
    c.samples.push_back(samples.seconds[i] / run.repeats);
    if (clock > 0) clocks.push_back(clock);
    ++block.count;
  }
  if (!clocks.empty()) block.clock_hz = std::round(middle(clocks) / 1e6) * 1e6;
  if (block.count > 0) c.blocks.push_back(block);
  c.batch = run.batch;
}

/// Remembers what a launch took for its work, by which larger shapes are predicted.
void Session::note_pace(const Case& c, double seconds) {
  const double pace = seconds / c.work().size();
  const bool slow = seconds >= long_launch;
  auto known = pace_.find(c.strategy);
  if (known == pace_.end()) {
    if (!slow) return;
    known = pace_.emplace(c.strategy, Pace{pace, pace}).first;
  }
  // a short launch is no slower than it looks, so it may better a pace that is known
  known->second.best = std::min(known->second.best, pace);
  if (slow) known->second.worst = std::max(known->second.worst, pace);
}

Reason Session::too_large(const Case& c, Target& where) const {
  if (c.experiment->element == Element::fp32 && c.experiment->terms(c.shape) >= 1 << 24)
    return "sums of 2^24 terms and more have no error bound in fp32, so nothing could be proven";
  return too_little_memory(footprint(*c.experiment, c.shape, where.backend()),
                           static_cast<double>(where.free_bytes()),
                           static_cast<double>(cpu_->free_bytes()));
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
    Workbench bench(*c.experiment, small, where, 0, settings_.seed, &ledger_);
    bench.verify(*c.strategy);
    const double pace = bench.proof_seconds() / c.experiment->work(*c.strategy, small).size();
    pace_[c.strategy] = {pace, pace};
  }
  // a size that happens to be slow should not condemn its neighbours, nor one that happens to be
  // fast let minutes be spent on a slow one: half way between, as factors go
  const auto [best, worst] = pace_[c.strategy];
  if (auto reason = too_long(std::sqrt(best * worst) * size, method.proof_budgets))
    return "predicted " + *reason;
  return {};
}

/// Why a launch of so many seconds takes too long for so many budgets.
Reason Session::too_long(double seconds, double budgets) const {
  const double allowed = budgets * settings_.budget_seconds;
  if (seconds * launches_at_least <= allowed) return {};
  return short_text(seconds) + " s a launch: proof and " + std::to_string(fewest_samples) +
         " samples would take more than " + short_text(allowed) + " s, " + short_text(budgets) +
         " times --per-case";
}

}  // namespace recheck
