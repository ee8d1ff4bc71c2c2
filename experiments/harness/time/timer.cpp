// SPDX-License-Identifier: Apache-2.0
#include "timer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "../base/clock.hpp"
#include "../case/rescue.hpp"
#include "../table/method.hpp"
#include "disturbance.hpp"
#include "rounds.hpp"

namespace recheck {
namespace {

// longer samples get one fresh-input launch after all samples, to save time
constexpr double longest_among_samples = 20e-3;

// number of checked rounds before the last: a fresh launch, and the block's output. A kernel that
// counts launches cannot predict them. End to end they take long
constexpr int fresh_rounds = 3, fresh_rounds_end_to_end = 2;

constexpr auto rank_of_round = ranks_of_rounds();

}  // namespace

void Timer::time(std::span<Case* const> cases) {
  if (cases.empty()) return;
  std::vector<const Strategy*> strategies;
  for (Case* c : cases) {
    rows_.push_back(row_of(*c));
    strategies.push_back(c->strategy);
  }
  // each regime has integers that no row has seen, not even in its proofs
  reporter_.attempt(cases, target_, [&]() -> std::optional<Result> {
    const Spend time(cases[0]->spent);
    gate_.draw_fresh_inputs(strategies);
    return {};
  });
  warm_up();
  reporter_.take_load();  // discard the load before these samples
  sample_rounds(0, method.rounds);
  // all rows repeat disturbed rounds, once, as rows are compared by round
  std::ptrdiff_t again = 0;
  for (const Row& row : rows_)
    again = std::max(again, std::ranges::count(disturbed_blocks(*row.c), true));
  sample_rounds(method.rounds, static_cast<int>(again));
  const Load load = reporter_.take_load();
  each([](const Row&) { return true; },
       [&](Row& row) -> std::optional<Result> { return record(row, load); });
}

Timer::Row Timer::row_of(Case& c) {
  const int repeats = c.kind().repeats;
  const int proofs = static_cast<int>(c.samples.size());
  Row row{.c = &c,
          .launch = gate_.operands().launch(*c.strategy, gate_.operands().reals(), repeats),
          .repeats = repeats,
          .fresh_rounds = {},
          .blocks = proofs,
          .proofs = proofs,
          .few = c.has_three_samples(seconds_.at(c.strategy)),
          .spent = std::accumulate(c.samples.begin(), c.samples.end(), 0.0)};
  // numbers beyond all rounds, as proofs came before them and compare only with other proofs.
  // Repeated blocks have the numbers below these
  for (int proof = 0; proof < proofs; ++proof)
    c.blocks.push_back({2 * method.rounds + proof, 1, {}});
  if (!c.strategy->part_of.empty()) return row;  // a component has no output of its own
  std::uniform_int_distribution any_round(0, method.rounds - 1);
  const int count = c.kind().copies ? fresh_rounds_end_to_end : fresh_rounds;
  for (int i = 0; i < count; ++i) row.fresh_rounds.push_back(any_round(chance_));
  std::ranges::sort(row.fresh_rounds, std::greater());
  return row;
}

/// Calls `body` for each wanted row with an unfinished case; its return value is the case's result.
template <typename Wanted, typename Body>
void Timer::each(Wanted wanted, Body body) {
  for (Row& row : rows_)
    if (wanted(row)) reporter_.spend({&row.c, 1}, target_, [&] { return body(row); });
  std::erase_if(rows_, [](const Row& row) { return row.c->result.has_value(); });
}

void Timer::warm_up() {
  std::erase_if(rows_, [](const Row& row) { return row.c->result.has_value(); });
  if (rows_.empty()) return;
  Row& quickest = *std::ranges::min_element(
      rows_, {}, [&](const Row& row) { return seconds_.at(row.c->strategy); });
  reporter_.attempt(std::span(&quickest.c, 1), target_, [&]() -> std::optional<Result> {
    const Spend time(quickest.c->spent);
    const InRow in_row;
    target_.warm_up([&, prepare = sampling(quickest, 0, 0)] {
      if (prepare.in_place) prepare.poison();
      quickest.launch();
    });
    return {};
  });
}

void Timer::sample_rounds(int first, int count) {
  in_rounds(count, rows_, order_, [&](int round) {
    const bool last = round + 1 == count;
    each(
        [&](const Row& row) { return (last && !row.few) || takes_part(row, rank_of_round[round]); },
        [&](Row& row) { return sample_block(row, first + round, last); });
  });
}

/// Whether a row has time for a block in a round of this rank.
bool Timer::takes_part(const Row& row, int rank) const {
  if (row.blocks == 0) return true;
  if (rank < row.proofs) return false;
  if (row.few) return rank < fewest_long_samples;
  const double budgets = row.c->host_timed() ? method.most_budgets_host_timed : method.most_budgets;
  const double room = budgets * settings_.budget_seconds * row.blocks / row.spent;
  return rank < std::max<double>(room, fewest_samples);
}

/// Takes a block, has it judged if it is to be checked, and adds its samples to the case. Returns
/// the result if the output is wrong.
std::optional<Result> Timer::sample_block(Row& row, int round, bool last) {
  const Case& c = *row.c;
  const double start = now();
  const auto cpus = c.host_timed() ? cpu_seconds() : std::nullopt;
  if (row.batch == 0) calibrate(row);

  const bool chosen = !row.fresh_rounds.empty() && round >= row.fresh_rounds.back();
  if (chosen) row.fresh_rounds.pop_back();
  // if proofs count as samples, so does the launch on fresh inputs
  const bool only_fresh = row.proofs > 0 && !row.fresh_checked && !last;
  const bool fresh = only_fresh || (chosen && sample_seconds(row) <= longest_among_samples);
  row.fresh_checked |= fresh;
  const bool checked = chosen || last || only_fresh;
  BlockCheck check(gate_, *c.strategy, c.regime,
                   {.output = checked && !only_fresh, .fresh = fresh});
  const int count = only_fresh ? 0 : block_count(row, checked);
  const Samples samples = sample(row, count, fresh, check);
  ++row.blocks;

  double judging = 0;
  if (checked) {
    const Spend time(judging);
    row.judged = check.judge();
    if (!row.judged.passed()) return row.judged;
  }
  add_block(row, round, samples);
  row.spent += now() - start - judging;
  if (const auto after = cpus ? cpu_seconds() : std::nullopt) {
    row.cpus.at += after->at - cpus->at;
    row.cpus.host += after->host - cpus->host;
    row.cpus.own += after->own - cpus->own;
  }
  return {};
}

/// Measures a launch without the latency that proofs include, and sets the launches per sample.
void Timer::calibrate(Row& row) {
  double& seconds = seconds_[row.c->strategy];
  row.batch = 1;
  if (row.c->kind().copies || seconds > 1e-3 || target_.backend() == Backend::cpu) return;
  const double launch_seconds = seconds * row.repeats;
  const InRow in_row(6 * launch_seconds);
  const auto samples = target_.sample(sampling(row, 3, launch_seconds), row.launch).seconds;
  seconds = middle(samples) / row.repeats;
  // an in-place launch must not find the previous output
  if (row.c->kind().batches && !gate_.operands().in_place(*row.c->strategy))
    row.batch = static_cast<int>(
        std::clamp(std::ceil(method.fewest_steps * target_.clock_step() / seconds), 1.0, 32.0));
}

/// The number of samples in a block: few, so that rounds are short and many. A checked block has a
/// random number of samples: no row can know which launch is the last.
int Timer::block_count(const Row& row, bool checked) {
  const int most = std::clamp(static_cast<int>(method.block_seconds / sample_seconds(row)), 1,
                              method.block_samples);
  return checked ? std::uniform_int_distribution(1, most)(chance_) : most;
}

/// Takes this many samples, followed by a launch on fresh inputs if `fresh`.
Samples Timer::sample(Row& row, int count, bool fresh, BlockCheck& check) {
  const Case& c = *row.c;
  const double seconds = sample_seconds(row);
  std::optional<FreshLaunch> launch;
  if (fresh) launch = check.fresh_launch(std::uniform_int_distribution(0, row.batch - 1)(chance_));
  const InRow in_row(2 * (count + 2) * seconds);
  if (c.kind().copies) return {check.end_to_end(count), {}};
  Sampling wanted = sampling(row, count, seconds);
  wanted.fresh = launch ? &*launch : nullptr;
  return target_.sample(wanted, row.launch);
}

Sampling Timer::sampling(const Row& row, int count, double guess) {
  Operands& operands = gate_.operands();
  const Strategy& strategy = *row.c->strategy;
  return {.regime = row.c->regime,
          .count = count,
          .batch = row.batch,
          .guess = guess,
          .poison = [&] { operands.queue_prepare_output(strategy); },
          .in_place = operands.in_place(strategy)};
}

void Timer::add_block(Row& row, int round, const Samples& samples) {
  Case& c = *row.c;
  for (const double seconds : samples.seconds) c.samples.push_back(seconds / row.repeats);
  Block block{round, static_cast<int>(samples.seconds.size()), {}};
  std::vector<double> clocks;
  std::ranges::copy_if(samples.clock_hz, std::back_inserter(clocks),
                       [](double hz) { return hz > 0; });
  if (!clocks.empty()) block.clock_hz = std::round(middle(clocks) / 1e6) * 1e6;
  c.blocks.push_back(block);
  c.batch = row.batch;
  // the basis for planning the next block
  if (!c.kind().copies) seconds_[c.strategy] = middle(c.samples);
}

/// The result of a case that has all samples: wrong if an output was wrong, otherwise its time.
Result Timer::record(Row& row, const Load& load) {
  Case& c = *row.c;
  if (!row.fresh_checked && c.strategy->part_of.empty())
    if (auto result = check_fresh_alone(row); !result.passed()) return result;
  const auto disturbed = disturbed_blocks(c);
  c.disturbed = disturbance(c, disturbed, row.cpus, load);
  set_aside(c, disturbed);
  std::vector<int> counts;
  counts.reserve(c.blocks.size());
  for (const Block& block : c.blocks) counts.push_back(block.count);
  // a drained time is the difference of two readings
  const int clocks = c.kind().drains ? 2 : 1;
  const double clock = c.host_timed() ? host_clock_step() : clocks * target_.clock_step();
  const double step = clock / (c.batch * row.repeats);
  // every row takes a sample in at least `fewest_samples` rounds, so this cannot fail
  const auto interval = interval_of_blocks(c.samples, counts, step);
  if (!interval) throw std::logic_error("too few samples");
  c.seconds = interval;
  return row.judged;
}

/// A separate launch on fresh inputs after all samples, for samples too long to include one.
Result Timer::check_fresh_alone(Row& row) {
  BlockCheck check(gate_, *row.c->strategy, row.c->regime, {.output = false, .fresh = true});
  sample(row, 0, true, check);
  return check.judge();
}

}  // namespace recheck
