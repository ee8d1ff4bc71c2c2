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

// what other inputs may cost: beyond so many medians and seconds, and as often as it is tried, a
// row does less where its inputs stay the same
constexpr double other_inputs = 2, other_inputs_seconds = 10e-6;
constexpr int most_surprises = 8;
// where something else has the cores there may be more; behind so many it is no longer told apart
constexpr int most_disturbed = 24;
// moving inputs may cost what it takes to read them from the caches of others, so many bytes a
// second: a row that has noticed could take any time
constexpr double slowest_caches = 1e9;
// in so many rounds a case is looked at, besides the last: what it leaves, and a launch with other
// inputs. Who counts launches does not know which. With copies it takes long
constexpr int looks_among_rounds = 3, looks_end_to_end = 2;
// a launch that repeats its work finds it in caches; but not so many times as fast
constexpr double quickest_repeats = 10;
// who keeps memory has less of it left behind each of so many; others on the device that take some
// behind one give some back behind another
constexpr int most_looks_at_memory = 64;
// what a host that others use may add to waiting for a device that is at rest
constexpr double at_rest_within = 5e-3;

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

/// Whether a block's events say far less than the device's own timer, which counts what is around
/// them as well: someone else has a hand in them.
bool clocks_disagree(const Samples& samples, int batch) {
  if (samples.device_seconds.empty() || samples.seconds.empty()) return false;
  return middle(samples.device_seconds) > 2 * batch * middle(samples.seconds) + 50e-6;
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
                 std::function<void()> save)
    : settings_(settings),
      targets_(std::move(gpu)),
      show_(std::move(show)),
      save_(std::move(save)) {}

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
  };
  for (int round = 0; !runs.empty() && !interrupted; ++round) {
    const bool last = round + 1 >= method.rounds;
    std::ranges::shuffle(runs, random);
    each([&](const Run& run) { return last || due(run, round); },
         [&](Run& run) { sample(bench, where, run, round); });
    each([&](const Run&) { return last; }, [&](Run& run) { conclude(bench, where, run); });
    if (last && !interrupted) judge_times(runs);
    std::erase_if(runs, [](const Run& run) { return !open(run.c); });
  }
}

/// A machine that has become slower in the end, whatever has made it so, speaks against most rows
/// alike; a row that does less in its samples is not one of many.
void Session::judge_times(std::span<Run> runs) {
  const auto by_time = std::ranges::count_if(runs, &Run::by_time);
  const bool most = by_time > 1 && 2 * by_time > std::ssize(runs);
  const Result unclear = {
      Status::not_run,
      "cannot be told from a row that does less where it is timed: most rows of "
      "this shape take longer in the end; measure again on a quiet machine",
      {}};
  for (const Run& run : runs)
    if (run.by_time && open(run.c)) run.c->result = most ? unclear : run.left;
  save_();
}

/// Whether a row takes a block in a round: in each, or where its budget has no room for so many, in
/// those that count most.
bool Session::due(const Run& run, int round) const {
  if (run.blocks == 0) return true;
  const double budgets = host_timed(*run.c) ? method.most_budgets_host_timed : method.most_budgets;
  const double room = budgets * settings_.budget_seconds * run.blocks / run.spent;
  return rank_of_round[round] < std::max<double>(room, fewest_samples);
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

void Session::sample(Workbench& bench, Target& where, Run& run, int round) {
  const double start = now();
  if (run.batch == 0) calibrate(where, run);
  run.judging = 0;
  take_block(bench, where, run, round);
  run.spent += now() - start - run.judging;
}

/// Closes a case that has its samples, unless they are too few.
void Session::conclude(Workbench& bench, Target& where, Run& run) {
  Case& c = *run.c;
  const auto interval = median_interval(c.samples);
  if (!interval) {
    // clocks were too low in some blocks, or ever are
    if (run.spent >= method.proof_budgets * settings_.budget_seconds)
      c.result = {Status::not_run,
                  "throttled: the GPU's clock stayed below " +
                      std::to_string(std::lround(100 * method.throttled_below)) + "% of its own",
                  {}};
    return;
  }
  const bool copied = c.regime == Regime::end_to_end;
  if (run.left.status == Status::passed)
    run.left = challenge(bench, where, run, *interval, run.left);
  if (run.by_time) return;  // until the others have come as far
  c.result = run.left;
  if (c.result->status != Status::passed) return;
  c.seconds = interval;
  if (draws(c)) {
    const InRow in_row(interval->median);
    c.power = where.draw(run.launch, interval->median);
  }
  if (!copied) note_pace(c, interval->median);
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
      run.batch * std::accumulate(samples.seconds.begin(), samples.seconds.end(), 0.0) +
      samples.surprised + samples.changed;
  ledger_.verified_kernels += timed;
  ledger_.flushes_and_holds += std::max(0.0, took - timed);
  return samples;
}

/// Adds the samples of a block to a case. In some blocks one launch meets a surprise: what a launch
/// leaves behind is judged while it is among those that are timed, and none can know which. In
/// these, and in the last, what the block leaves is judged as well.
void Session::take_block(Workbench& bench, Target& where, Run& run, int round) {
  Case& c = *run.c;
  const bool copied = c.regime == Regime::end_to_end;
  const bool whole = c.strategy->part_of.empty();
  const bool chosen = whole && !run.looks.empty() && round >= run.looks.back();
  const bool last = round + 1 >= method.rounds;
  if (chosen) run.looks.pop_back();
  // what others have changed since the last look is not this row's doing
  bench.restored_setting(*c.strategy);
  if ((chosen || last) && !copied) bench.restored_input(*c.strategy);
  // a long one is surprised later, and once
  const bool surprised = chosen && seconds_[c.strategy] * run.repeats * run.batch <= surprised_once;
  const bool first = surprised && !bench.has_met(*c.strategy);
  const Samples samples = sampled(bench, where, run, chosen || last, surprised);
  ++run.blocks;
  if (const auto changed = bench.restored_setting(*c.strategy)) {
    c.result = {Status::incorrect, "while it was timed, it has " + *changed, {}};
    return;
  }
  run.disagreeing += clocks_disagree(samples, run.batch);
  if (first) run.met = samples;
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

  Block block{round, 0, {}};
  std::vector<double> clocks;
  const double least_clock =
      method.throttled_below * targets_.gpu().device.value_or(Device{}).clock_hz;
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
  // what the next block is planned by
  if (c.regime != Regime::end_to_end && !c.samples.empty())
    seconds_[c.strategy] = middle(c.samples);
}

/// What a case is worth that has its samples and has `passed`: whether other launches like them
/// give what is right for other inputs, in as much time, and leave nothing running and no memory
/// taken.
Result Session::challenge(Workbench& bench, Target& where, Run& run, const Interval& interval,
                          Result passed) {
  const Case& c = *run.c;
  if (2 * run.disagreeing > run.blocks)
    return {Status::incorrect,
            "the device's own timer counts more than twice as long as the events say: something "
            "alters one of them",
            {}};
  if (!c.strategy->part_of.empty()) return passed;  // what it leaves is nobody's
  const bool copied = c.regime == Regime::end_to_end;
  const double usual = interval.median * run.repeats;
  const double throttled =
      method.throttled_below * targets_.gpu().device.value_or(Device{}).clock_hz;
  double least = HUGE_VAL, lingered = HUGE_VAL, now_takes = HUGE_VAL;
  bool as_quick = false, as_before = false;
  // Moved inputs may cost what the caches of other cores do, or nothing where they have been seen
  // but for a few elements. Another clock is nobody's doing
  bool as_new = false, as_changed = false;
  const auto slowed = [&](const Samples& samples) {
    return std::ranges::any_of(samples.clock_hz,
                               [&](double clock) { return clock > 0 && clock < throttled; });
  };
  const auto compare = [&](const Samples& samples) {
    const auto quick = [&](double seconds, double base) {
      return seconds <= other_inputs * base + other_inputs_seconds || slowed(samples);
    };
    const double moved = std::min(samples.moved, usual + c.work().bytes / slowest_caches);
    as_new |= quick(samples.surprised, std::max(usual, moved));
    as_changed |= quick(samples.changed, usual);
    as_quick = as_new && as_changed;
    least = std::min(least, std::max(samples.surprised, samples.changed));
  };
  if (run.met) compare(*run.met);
  std::int64_t taken = std::numeric_limits<std::int64_t>::max();
  const auto blameless = [&] { return as_quick && as_before && lingered <= at_rest_within; };
  int disturbed = 0;
  for (int i = 0; i < (blameless() ? most_looks_at_memory
                                   : most_surprises + std::min(disturbed, most_disturbed));
       ++i) {
    // who has met these may have kept what they give
    if (!as_quick && bench.has_met(*c.strategy)) {
      bench.renew();
      bench.get_ready(*c.strategy);
      const InRow in_row;
      where.warm_up(run.launch);  // the device has been idle
    }
    const bool first = !bench.has_met(*c.strategy);
    const auto before = where.free_bytes();
    const Samples samples = sampled(bench, where, run, false, true);
    // of the host everybody takes and gives back as they like
    const bool own = where.backend() == Backend::gpu && !copied;
    taken = std::min(taken, own ? before - where.free_bytes() : 0);
    auto result = bench.judge_surprise(*c.strategy, copied);
    if (result.status != Status::passed) return result;
    if (first) compare(samples);
    disturbed += samples.disturbed ? 1 : 0;
    // who knows that all samples have been taken may work again; a clock that is too low is
    // nobody's doing
    const double is = samples.seconds.empty() ? 0 : std::ranges::min(samples.seconds);
    as_before |= is <= other_inputs * usual + other_inputs_seconds || slowed(samples);
    now_takes = std::min(now_takes, is);
    lingered = std::min(lingered, samples.lingered);
    if (blameless() && taken <= 0) break;
  }
  if (blameless() && taken <= 0) {
    if (const auto less = repeats_less(bench, where, run, usual))
      return {Status::incorrect, less, {}};
    return passed;
  }
  if (lingered > at_rest_within)
    return {Status::incorrect,
            "has left work on the device that goes on for " + short_text(1e3 * lingered) +
                " ms after its launch",
            {}};
  if (!blameless() && disturbed > most_disturbed)
    return {Status::not_run,
            "cannot be told from a row that does less where it is timed: something else had the "
            "CPU's cores; measure again on a quiet machine",
            {}};
  run.by_time = true;
  if (!as_quick)
    return {Status::incorrect,
            "takes " + short_text(1e6 * least) + " us at least once its inputs have changed, and " +
                short_text(1e6 * usual) + " us while they stay the same: it does less then",
            {}};
  if (!as_before)
    return {Status::incorrect,
            "takes " + short_text(1e6 * now_takes) +
                " us at least once its samples have been taken, and " + short_text(1e6 * usual) +
                " us in these: it did less then",
            {}};
  run.by_time = false;
  return {Status::incorrect,
          "keeps memory of the device at each of its launches: " +
              short_text(static_cast<double>(taken) / (1 << 20)) +
              " MiB or more are gone behind each of " + std::to_string(most_looks_at_memory) +
              " blocks of them, by whomever they were taken",
          {}};
}

/// Why a launch that takes `usual` seconds cannot have repeated its work as often as it was told.
/// Nothing if it can: it is held against launches that do it once.
Reason Session::repeats_less(Workbench& bench, Target& where, const Run& run, double usual) {
  if (run.repeats == 1) return {};
  constexpr int samples_of_one = 8;
  const Case& c = *run.c;
  const auto once = bench.launch(*c.strategy);
  bench.poison();
  const double seconds = seconds_[c.strategy];
  const auto samples = [&] {
    const InRow in_row(2 * samples_of_one * seconds);
    return where.sample({Regime::hot, samples_of_one, 1, seconds}, once).seconds;
  }();
  if (const auto left = bench.recheck(*c.strategy); left.status != Status::passed)
    return "done once, it went wrong: " + left.reason.value_or("");
  const double one = middle(samples);
  if (usual >= run.repeats / quickest_repeats * (one - other_inputs_seconds)) return {};
  return "takes " + short_text(1e6 * usual) + " us to do its work " + std::to_string(run.repeats) +
         " times, and " + short_text(1e6 * one) + " us to do it once: it does its work less often";
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
