// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <algorithm>
#include <bit>

#include "../harness/self/self.hpp"
#include "../harness/table/check.hpp"

namespace recheck::memory {
namespace {

namespace k = kernels::memory;

using kernels::fold_partials;

std::uint32_t bits(float word) { return std::bit_cast<std::uint32_t>(word); }

/// The fold of the words and the line that comes next.
Extent fold_and_line(const Shape&) { return {1, 2}; }
Extent folds(const Shape&) { return {1, fold_partials}; }

template <int steps>
Work visited(const Shape&) {
  return {.flops = 0, .bytes = double{steps} * sizeof(float)};
}
Work passed(const Shape& s) {
  return {.flops = 0, .bytes = double{k::passes} * sizeof(float) * static_cast<double>(s[0])};
}

/// Rows of words follow one another without gaps.
template <int steps>
Oracle chase_oracle(const Shape& s, std::span<const HostMatrix> inputs, Values) {
  const std::uint32_t lines = k::chase_lines(s[0]);
  std::uint32_t fold = 0, line = 0;
  for (int step = 0; step < steps; ++step) {
    fold = fold * k::chase_fold + bits(inputs[0].elements[std::size_t{line} * k::line_words]);
    line = (k::chase_factor * line + k::chase_increment) & (lines - 1);
  }
  return [fold, line](std::span<const float> out, std::int64_t, Arithmetic) {
    const int wrong = std::popcount(bits(out[0]) ^ fold) + std::popcount(bits(out[1]) ^ line);
    return Error{static_cast<double>(wrong), 0, "wrong bits"};
  };
}

Oracle pass_oracle(const Shape&, std::span<const HostMatrix> inputs, Values) {
  const std::uint32_t once = fold_words(inputs[0].view());
  std::uint32_t truth = 0;
  for (int pass = 0; pass < k::passes; ++pass) truth ^= std::rotl(once, pass % 32);
  return folds_to(truth, fold_partials);
}

/// A word for each block that ran, at least one, and 0 after the last.
Oracle overwriting_oracle(const Shape& s, std::span<const HostMatrix>, Values) {
  // word i is i / 4 + 1, rotated by i % 4: for each rotation the exclusive or of 1 to n
  std::uint32_t truth = 0;
  for (int rotation = 0; rotation < 4; ++rotation) {
    const auto n = static_cast<std::uint32_t>((s[0] + 3 - rotation) / 4);
    const std::uint32_t all[] = {n, 1, n + 1, 0};
    truth ^= std::rotl(all[n % 4], rotation);
  }
  return [truth](std::span<const float> words, std::int64_t, Arithmetic) {
    int wrong = 0;
    bool among_blocks = true;
    for (std::size_t i = 0; i < fold_partials; ++i) {
      among_blocks = among_blocks && (i == 0 || bits(words[i]) != 0);
      wrong += std::popcount(bits(words[i]) ^ (among_blocks ? truth : 0));
    }
    return Error{static_cast<double>(wrong), 0, "wrong bits"};
  };
}

constexpr std::int64_t nearest = 1 << 8, near = 1 << 12, l2 = 1 << 22, dram = 1 << 28;

/// Each row at the size that its level is meant for: memory cold, the rest hot. Constant memory has
/// two: the nearest of its caches holds about 2 KB, the next one the larger size.
bool leaves_out(const Strategy& strategy, const Shape& shape, Regime regime) {
  if (shape[0] == nearest) return !strategy.name.ends_with("_constant") || regime != Regime::hot;
  const auto size = strategy.name.ends_with("_dram") ? dram
                    : strategy.name.ends_with("_l2") ? l2
                                                     : near;
  if (regime == Regime::drained) return size != dram || shape[0] != size;
  return shape[0] != size || regime != (size == dram ? Regime::cold : Regime::hot);
}

}  // namespace

const Problem near_chase = {"65536 words, each load waiting for the last", fold_and_line,
                            visited<k::near_steps>, chase_oracle<k::near_steps>};
const Problem far_chase = {"8192 words, each load waiting for the last", fold_and_line,
                           visited<k::far_steps>, chase_oracle<k::far_steps>};
const Problem passing = {"every word read 1000003 times in one launch", folds, passed, pass_oracle};
const Problem overwriting = {"every word written 1000003 times in one launch", folds, passed,
                             overwriting_oracle};

k::ProbeArgs arguments(const Call& call) {
  return {call.shape[0], call.operands[0].data, call.operands[1].data};
}

Experiment experiment(std::span<const Strategy> ladder) {
  // the words, and what proves that they were read, are those of the machine's ceilings
  Experiment experiment = machine::experiment();
  experiment.self = false;
  experiment.name = "memory";
  experiment.title = "The levels of memory";
  experiment.axes = {"words"};
  experiment.problem =
      experiment.problem_of(*std::ranges::find(experiment.ladder, "read", &Strategy::name));
  experiment.ladder = ladder;
  experiment.headline = {dram};
  experiment.timed = {{nearest}, {near}, {l2}, {dram}};
  // around a vector, a line and powers of two of them, up to as many as the far chase has steps;
  // then more than an L1 cache holds, and more than shared memory holds
  experiment.edges = {{1},     {3},     {4},      {5},      {31},     {32},    {33},
                      {63},    {64},    {65},     {97},     {127},    {128},   {129},
                      {1000},  {4095},  {4096},   {4097},   {8191},   {8192},  {8193},
                      {16385}, {58104}, {100003}, {262143}, {262144}, {262145}};
  experiment.leaves_out = leaves_out;
  return experiment;
}

}  // namespace recheck::memory
