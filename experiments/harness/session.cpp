// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include "host_cpus.hpp"
#include "method.hpp"
#include "rescue.hpp"

namespace recheck {

std::atomic<bool> interrupted = false;

namespace {

/// Whether the host is the clock.
constexpr bool host_timed(const Case& c) {
  return c.regime == Regime::end_to_end || c.strategy->launch.backend == Backend::cpu;
}

constexpr int launches_at_least = 2 + fewest_samples;

// a launch this long is surprised once, and by itself: each takes from the time for samples
constexpr double surprised_once = 20e-3;

// in so many rounds a case is looked at, besides the last: what it leaves, and a launch with other
// inputs. Who counts launches does not know which. With copies it takes long
constexpr int looks_among_rounds = 3, looks_end_to_end = 2;
// launches shorter than this say little about larger shapes
constexpr double long_launch = 1e-3;

/// By round, how early it is taken by a row that has room for few: first those that every row
/// takes, spread evenly from the first to the last, then each as far from those before as there is.
/// Rows are compared in the rounds that they share.
constexpr auto rank_of_round = [] {
  constexpr int last = method.rounds - 1, gaps = fewest_samples - 1, none = -1;
  std::array<int, method.rounds> rank{};
  rank.fill(none);
  for (int i = 0; i <= gaps; ++i) rank[(2 * i * last + gaps) / (2 * gaps)] = i;
  for (int at = fewest_samples; at <= last; ++at) {
    int next = 0, farthest = 0;
    for (int round = 0; round <= last; ++round) {
      int distance = rank[round] == none ? last : 0;
      for (int other = 0; other <= last; ++other)
        if (rank[other] != none)
          distance = std::min(distance, std::max(round - other, other - round));
      if (distance > farthest) {
        farthest = distance;
        next = round;
      }
    }
    rank[next] = at;
  }
  return rank;
}();
static_assert(method.rounds >= fewest_samples);

/// The blocks of a case that took much longer than its fastest but one: something else had the GPU,
/// or its clock fell. None where the host is the clock, as its times have several modes on the
/// quietest machine.
std::vector<bool> jumped(const Case& c) {
  std::vector<double> medians;
  std::size_t at = 0;
  for (const auto& block : c.blocks) {
    const auto count = static_cast<std::size_t>(block.count);
    medians.push_back(middle({&c.samples[at], &c.samples[at] + count}));
    at += count;
  }
  auto ordered = medians;
  std::ranges::sort(ordered);
  std::vector<bool> jumps(medians.size());
  if (medians.size() < 2 || host_timed(c)) return jumps;
  for (std::size_t i = 0; i < medians.size(); ++i)
    jumps[i] = medians[i] > method.disturbed_above * ordered[1] + 1e-6;
  return jumps;
}

/// Moves the blocks of a case that jumped out of its samples, unless too few would be left. They
/// stay in the record.
void set_aside(Case& c, const std::vector<bool>& jumps) {
  std::vector<double> kept;
  std::vector<Block> blocks;
  std::vector<SetAside> aside;
  std::size_t at = 0;
  for (std::size_t i = 0; i < jumps.size(); ++i) {
    const auto begin = c.samples.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + c.blocks[i].count;
    at += static_cast<std::size_t>(c.blocks[i].count);
    if (jumps[i]) {
      aside.push_back({c.blocks[i].round, {begin, end}});
    } else {
      kept.insert(kept.end(), begin, end);
      blocks.push_back(c.blocks[i]);
    }
  }
  if (std::ssize(kept) < fewest_samples) return;
  c.samples = std::move(kept);
  c.blocks = std::move(blocks);
  c.set_aside = std::move(aside);
}

/// Whether the clock was lower in blocks that jumped than in the others.
bool slower_clock(const Case& c, const std::vector<bool>& jumps) {
  std::vector<double> clocks[2];
  for (std::size_t i = 0; i < jumps.size(); ++i)
    if (const auto clock = c.blocks[i].clock_hz) clocks[jumps[i] ? 1 : 0].push_back(*clock);
  return !clocks[0].empty() && !clocks[1].empty() && middle(clocks[1]) < 0.9 * middle(clocks[0]);
}

/// Whether other programs had CPUs that a case could have used while its blocks were timed.
bool short_of_cpus(const CpuSeconds& passed) {
  constexpr double at_least = 0.1;  // seconds: the system counts in hundredths
  if (passed.at < at_least) return false;
  const double cpus = allowed_cpus();
  const double others = (passed.host - passed.own) / passed.at, own = passed.own / passed.at;
  return others > std::max(0.5, 0.05 * cpus) && others + own > 0.9 * cpus;
}

/// Why the times of a case may be too long, as one of few phrases that a report counts; nothing
/// where they need not be. `jumps` are of all its blocks.
Reason disturbance(const Case& c, const std::vector<bool>& jumps, const CpuSeconds& cpus,
                   const Others& others) {
  constexpr double used = 5;  // per cent of the GPU's time: a desktop's display takes less
  if (c.strategy->launch.backend == Backend::gpu && others.gpu_percent >= used)
    return "another process used the GPU";
  if (host_timed(c) && short_of_cpus(cpus)) return "other programs used the CPUs";
  if (4 * std::ranges::count(jumps, true) <= std::ssize(jumps)) return {};
  if (others.hot) return "the GPU lowered its clock to stay cool";
  if (slower_clock(c, jumps)) return "the GPU's clock fell";
  return "the times jumped, and the harness does not see why";
}

bool open(const Case* c) { return !c->result; }

std::vector<Case*> select(std::span<Case* const> cases, auto predicate) {
  std::vector<Case*> chosen;
  std::ranges::copy_if(cases, std::back_inserter(chosen), predicate);
  return chosen;
}

/// A shape of the same proportions, about `part` of the work.
Shape smaller(Shape shape, double part) {
  const double scale = std::pow(part, 1 / static_cast<double>(shape.size()));
  for (auto& extent : shape)
    extent = std::max<std::int64_t>(1, std::llround(static_cast<double>(extent) * scale));
  return shape;
}

}  // namespace

Session::Session(const Settings& settings, Gpu gpu, std::function<void(const Case&)> show,
                 std::function<void()> save, std::function<Others()> others)
    : settings_(settings),
      targets_(std::move(gpu)),
      show_(std::move(show)),
      save_(std::move(save)),
      others_(std::move(others)) {}

void Session::measure(std::span<Case* const> cases) {
  for (Case* c : cases)
    if (open(c))
      guarded(std::span(&c, 1), targets_.of(Backend::cpu),
              [&] { c->result = refuse(*c->strategy, c->shape, targets_.gpu()); });
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
  name_row(*cases[0]);
  const auto fail = [&](const char* why) {
    for (Case* c : cases) c->result = {Status::failed, why, {}};
    try {
      target.synchronize();
    } catch (const std::exception&) {
      throw DeviceLost{};
    }
  };
  try {
    body();
  } catch (const std::bad_alloc&) {
    fail("out of host memory");
  } catch (const std::exception& error) {
    fail(words_of(error).c_str());
  } catch (...) {
    fail(threw_something);
  }
}

void Session::attempt(Backend backend, std::span<Case* const> cases) {
  Target* where = nullptr;
  guarded(cases, targets_.of(Backend::cpu), [&] { where = &targets_.of(backend); });
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
    // a row that one regime has found out is not believed in another
    for (const Case* found : wanted) {
      if (!found->result || found->result->status != Status::incorrect) continue;
      for (Case* c : wanted)
        if (open(c) && c->strategy == found->strategy) c->result = found->result;
    }
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
  else if (auto reason = too_long(bench.proof_seconds(), most_budgets_of_a_proof))
    for (Case* c : cases) c->result = {Status::not_run, "its proof took " + *reason, {}};
}

void Session::time(Workbench& bench, std::vector<Case*> cases) {
  if (cases.empty()) return;
  Target& where = targets_.of(cases[0]->strategy->launch.backend);
  std::vector<Run> runs;
  runs.reserve(cases.size());
  const int repeats = cases[0]->regime == Regime::inner ? inner_repeats : 1;
  std::uniform_int_distribution any_round(0, method.rounds - 1);
  for (Case* c : cases) {
    Run& run = runs.emplace_back(
        Run{.c = c, .launch = bench.launch(*c->strategy, repeats), .repeats = repeats});
    const bool copied = c->regime == Regime::end_to_end;
    for (int i = 0; i < (copied ? looks_end_to_end : looks_among_rounds); ++i)
      run.looks.push_back(any_round(chance_));
    std::ranges::sort(run.looks, std::greater());
  }
  // each regime has integers that no row has seen, not even in its proofs
  guarded(cases, where, [&] {
    const Spend time(cases[0]->spent);
    bench.renew();
    for (const Case* c : cases) bench.get_ready(*c->strategy);
  });
  std::erase_if(runs, [](const Run& run) { return !open(run.c); });
  if (runs.empty()) return;
  const auto quickest =
      std::ranges::min_element(runs, {}, [&](const Run& run) { return seconds_[run.c->strategy]; });
  guarded(std::span(&quickest->c, 1), where, [&] {
    const Spend time(quickest->c->spent);
    const InRow in_row;
    where.warm_up(quickest->launch);
  });

  // in rounds of random order, so that a drift of clock or temperature meets all alike; and all
  // come to their end together, as a row that went on by itself would find the machine at another
  // temperature, clock and state of its caches than those that it is compared with
  std::mt19937_64 random(settings_.seed);
  const auto each = [&](auto wanted, auto body) {
    for (Run& run : runs) {
      if (interrupted) return;
      if (!open(run.c) || !wanted(run)) continue;
      show_(*run.c);
      guarded(std::span(&run.c, 1), where, [&] {
        const Spend time(run.c->spent);
        body(run);
      });
      if (!open(run.c)) save_();
    }
    std::erase_if(runs, [](const Run& run) { return !open(run.c); });
  };
  const auto take_rounds = [&](int first, int count) {
    for (int i = 0; i < count && !runs.empty() && !interrupted; ++i) {
      const bool last = i + 1 == count;
      std::ranges::shuffle(runs, random);
      each([&](const Run& run) { return last || due(run, rank_of_round[i]); },
           [&](Run& run) { sample(bench, where, run, first + i, last); });
    }
  };
  others_();  // what was before these samples does not count
  take_rounds(0, method.rounds);
  // what was disturbed is measured again, once, and by all rows, as they are compared by round
  std::ptrdiff_t again = 0;
  for (const Run& run : runs) again = std::max(again, std::ranges::count(jumped(*run.c), true));
  take_rounds(method.rounds, static_cast<int>(again));
  const Others others = others_();
  each([](const Run&) { return true; }, [&](Run& run) { conclude(bench, where, run, others); });
}

/// Whether a row takes a block in a round of this rank: in each, or where its budget has no room
/// for so many, in those that count most.
bool Session::due(const Run& run, int rank) const {
  if (run.blocks == 0) return true;
  const double budgets = host_timed(*run.c) ? method.most_budgets_host_timed : method.most_budgets;
  const double room = budgets * settings_.budget_seconds * run.blocks / run.spent;
  return rank < std::max<double>(room, fewest_samples);
}

/// What a launch takes without the latency that a proof contains, and how many make a sample.
void Session::calibrate(Target& where, Run& run) {
  double& seconds = seconds_[run.c->strategy];
  run.batch = 1;
  if (run.c->regime == Regime::end_to_end || seconds > 1e-3 || where.backend() == Backend::cpu)
    return;
  const double launch_seconds = seconds * run.repeats;
  const InRow in_row(6 * launch_seconds);
  const auto samples = where.sample({run.c->regime, 3, 1, launch_seconds}, run.launch).seconds;
  seconds = middle(samples) / run.repeats;
  // an event resolves about half a microsecond
  if (run.c->regime == Regime::hot && seconds < method.batch_below_seconds)
    run.batch = std::clamp(static_cast<int>(50e-6 / seconds), 1, 32);
}

void Session::sample(Workbench& bench, Target& where, Run& run, int round, bool last) {
  const double start = now();
  const auto before = host_timed(*run.c) ? cpu_seconds() : std::nullopt;
  if (run.batch == 0) calibrate(where, run);
  run.judging = 0;
  take_block(bench, where, run, round, last);
  run.spent += now() - start - run.judging;
  if (const auto after = before ? cpu_seconds() : std::nullopt) {
    run.cpus.at += after->at - before->at;
    run.cpus.host += after->host - before->host;
    run.cpus.own += after->own - before->own;
  }
}

/// Closes a case that has its samples: as wrong if an output was, else with its time.
void Session::conclude(Workbench& bench, Target& where, Run& run, const Others& others) {
  Case& c = *run.c;
  if (run.left.status == Status::passed && !run.surprised)
    run.left = surprise_alone(bench, where, run);
  c.result = run.left;
  if (c.result->status != Status::passed) return;
  const auto jumps = jumped(c);
  c.disturbed = disturbance(c, jumps, run.cpus, others);
  if (std::ranges::count(jumps, true) > 0) set_aside(c, jumps);
  // never too few: all rows take a sample in so many rounds at least
  const auto interval = median_interval(c.samples);
  if (!interval) throw std::logic_error("too few samples");
  c.seconds = interval;
  if (draws(c)) {
    const InRow in_row(interval->median);
    c.power = where.draw(run.launch, interval->median);
  }
  if (c.regime != Regime::end_to_end) note_pace(c, interval->median);
}

/// A launch on fresh inputs behind all samples, for what takes too long to have one among them.
Result Session::surprise_alone(Workbench& bench, Target& where, Run& run) {
  if (!run.c->strategy->part_of.empty()) return run.left;  // a part leaves no output of its own
  sampled(bench, where, run, false, true);
  const auto result = bench.judge_surprise(*run.c->strategy, run.c->regime == Regime::end_to_end);
  return result.status == Status::passed ? run.left : result;
}

/// Samples of one block: few, so that a round soon comes to the next case, and there are many
/// rounds. With a surprise it is one launch more, or of a long one that alone.
Samples Session::sampled(Workbench& bench, Target& where, Run& run, bool looked_at,
                         bool surprised) {
  const Case& c = *run.c;
  const bool copied = c.regime == Regime::end_to_end;
  const double launch_seconds = seconds_[c.strategy] * run.repeats * run.batch;
  const int most =
      std::clamp(static_cast<int>(method.block_seconds / launch_seconds), 1, method.block_samples);
  const bool alone = surprised && launch_seconds > surprised_once;
  // none can know which launch is the last, whose output is looked at
  // the first copy may be slow, as others have had the host meanwhile
  const int least = copied && !looked_at ? 2 : 1;
  int count = most;
  if (alone)
    count = 0;
  else if (looked_at || surprised)
    count = std::uniform_int_distribution(least, std::max(least, most))(chance_);
  if (!copied) bench.poison();
  if (copied && looked_at) bench.poison_copied();
  std::optional<Surprise> surprise;
  if (surprised) surprise = bench.surprise(*c.strategy, run.batch, chance_);
  const Surprise* const among = surprise ? &*surprise : nullptr;
  const double start = now();
  Samples samples;
  try {
    const InRow in_row(2 * (count + 2) * launch_seconds);
    samples = copied ? bench.end_to_end(*c.strategy, count, among)
                     : where.sample({c.regime, count, run.batch, launch_seconds, among,
                                     [&] { bench.poison_output(); }},
                                    run.launch);
  } catch (...) {
    bench.end_surprise();
    throw;
  }
  const double took = now() - start;
  const double timed =
      run.batch * std::accumulate(samples.seconds.begin(), samples.seconds.end(), 0.0);
  ledger_.verified_kernels += timed;
  ledger_.flushes_and_holds += std::max(0.0, took - timed);
  return samples;
}

/// Adds the samples of a block to a case. In some blocks one launch meets a surprise: what a launch
/// leaves behind is judged while it is among those that are timed, and none can know which. In
/// these, and in the last, what the block leaves is judged as well.
void Session::take_block(Workbench& bench, Target& where, Run& run, int round, bool last) {
  Case& c = *run.c;
  const bool copied = c.regime == Regime::end_to_end;
  const bool whole = c.strategy->part_of.empty();
  const bool chosen = whole && !run.looks.empty() && round >= run.looks.back();
  if (chosen) run.looks.pop_back();
  // what others have changed since the last look is not this row's doing
  if ((chosen || last) && !copied) bench.restored_input(*c.strategy);
  // a long one is surprised later, and once
  const bool surprised = chosen && seconds_[c.strategy] * run.repeats * run.batch <= surprised_once;
  run.surprised |= surprised;
  const Samples samples = sampled(bench, where, run, chosen || last, surprised);
  ++run.blocks;
  if (chosen || last) {
    const Spend judging(run.judging);
    // the output is what this block has left, until the next row's block
    const auto judged = [&] {
      auto result =
          surprised ? bench.judge_surprise(*c.strategy, copied) : Result{Status::passed, {}, {}};
      if (result.status != Status::passed) return result;
      return copied ? bench.recheck_end_to_end(*c.strategy) : bench.recheck(*c.strategy, surprised);
    };
    run.left = judged();
    if (run.left.status != Status::passed) {
      c.result = run.left;
      return;
    }
  }

  std::vector<double> clocks;
  std::ranges::copy_if(samples.clock_hz, std::back_inserter(clocks),
                       [](double hz) { return hz > 0; });
  for (const double seconds : samples.seconds) c.samples.push_back(seconds / run.repeats);
  Block block{round, static_cast<int>(samples.seconds.size()), {}};
  if (!clocks.empty()) block.clock_hz = std::round(middle(clocks) / 1e6) * 1e6;
  c.blocks.push_back(block);
  c.batch = run.batch;
  // what the next block is planned by
  if (!copied) seconds_[c.strategy] = middle(c.samples);
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

Reason Session::too_large(const Case& c, Target& where) {
  if (c.experiment->element == Element::fp32 && c.experiment->terms(c.shape) >= 1 << 24)
    return "sums of 2^24 terms and more have no error bound in fp32, so nothing could be proven";
  return too_little_memory(footprint(*c.experiment, c.shape, where.backend()),
                           static_cast<double>(where.free_bytes()),
                           static_cast<double>(targets_.of(Backend::cpu).free_bytes()));
}

/// Seconds per Work::size() of a case's strategy at a smaller shape; nothing where it runs at none.
std::optional<double> Session::pace_at(const Case& c, const Shape& small, Target& where) {
  if (refuse(*c.strategy, small, targets_.gpu())) return {};
  Workbench bench(*c.experiment, small, where, 0, settings_.seed, &ledger_);
  bench.verify(*c.strategy);
  return bench.proof_seconds() / c.experiment->work(*c.strategy, small).size();
}

Reason Session::too_slow(const Case& c, Target& where) {
  const double size = c.work().size(), probe_size = 1e9;
  const auto proportions = std::pair(c.strategy, smaller(c.shape, 1e6 / size));
  if (!pace_.contains(c.strategy)) {
    // nothing long enough has been timed: try a smaller shape of the same proportions
    if (size <= 4 * probe_size) return {};
    const auto pace = pace_at(c, smaller(c.shape, probe_size / size), where);
    if (!pace) return {};
    pace_[c.strategy] = {*pace, *pace};
    tried_[proportions] = *pace;
  }
  // a size that happens to be slow should not condemn its neighbours, nor one that happens to be
  // fast let minutes be spent on a slow one: half way between, as factors go
  auto& [best, worst] = pace_[c.strategy];
  double pace = std::sqrt(best * worst);
  // a long row says little of a square: before a case is left out by what others took, its own
  // proportions are tried, in half a second if the others are right
  if (too_long(pace * size, method.proof_budgets)) {
    const auto [own, is_new] = tried_.try_emplace(proportions, HUGE_VAL);
    const double part = std::min({1.0, probe_size / size, 0.5 / (pace * size)});
    if (is_new) own->second = pace_at(c, smaller(c.shape, part), where).value_or(HUGE_VAL);
    best = std::min(best, own->second);
    pace = std::min(pace, own->second);
  }
  if (auto reason = too_long(pace * size, method.proof_budgets)) return "predicted " + *reason;
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
