// SPDX-License-Identifier: Apache-2.0
//
// The derived matrix: every row of every table, at every awkward shape of its experiment, through
// the benchmark's own gate.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "../experiments/harness/case/requirements.hpp"
#include "../experiments/harness/prove/edge_proofs.hpp"
#include "rows.hpp"
#include "targets.hpp"

namespace recheck {
namespace {

std::vector<Row> rows(Backend backend, bool sweep) {
  return rows_where([=](const Strategy& strategy) {
    return strategy.launch.backend == backend && strategy.sweep == sweep;
  });
}

class Gate : public testing::TestWithParam<Row> {};

TEST_P(Gate, LetsItPassAtEveryEdge) {
  const auto& [experiment, strategy] = GetParam();
  targets();  // the gates must not outlive them
  static std::map<const Experiment*, EdgeGates> gates;
  const Proofs found = prove_edges(*experiment, *strategy, targets(), gates[experiment]);
  if (found.not_run) {
    RecordProperty("skipped", *found.not_run);
    GTEST_SKIP() << *found.not_run;
  }
  for (const auto& [shape, reason] : found.unsupported) RecordProperty(shape, reason);
  for (const auto& line : found.wrong) ADD_FAILURE() << line;
  EXPECT_GT(found.passed, 0) << "no shape was tried";
}

// few launches of each row, so that compute-sanitizer's slowest tool can run it
TEST_P(Gate, LetsItPassAtOneAwkwardShape) {
  const auto* const experiment = GetParam().experiment;
  const auto* const strategy = GetParam().strategy;
  const Gpu& gpu = found_gpu();
  const auto axes = experiment->axes.size();
  Shape shape(axes, 77);
  // if the row does not take it, the first edge that the row takes with more than one step, along
  // two axes if possible
  const auto fits = [&](const Shape& s) { return !refuse(*strategy, s, gpu); };
  const auto steps = [&](const Shape& s) {
    const auto several = std::ranges::count_if(s, [](auto extent) { return extent >= 32; });
    return std::cmp_greater_equal(several, std::min<std::size_t>(2, axes)) && fits(s);
  };
  if (const auto edge = std::ranges::find_if(experiment->edges, steps);
      !fits(shape) && edge != experiment->edges.end())
    shape = *edge;
  if (const auto refusal = refuse(*strategy, shape, gpu)) GTEST_SKIP() << *refusal->reason;
  Target& target = targets().of(strategy->launch.backend);
  const auto pass = [&](const Shape& s, std::int64_t padding) {
    const Result result = recheck::Gate(*experiment, s, target, padding, 2).prove(*strategy);
    EXPECT_EQ(result.status, Status::passed) << to_string(s) << ": " << result.reason.value_or("");
  };
  pass(shape, strategy->packed ? 0 : 3);
  // later kernels take another path if vectors of four words fit: several tiles, none of them whole
  Shape even = {140, 268, 36};
  even.resize(axes);
  if (strategy->source.document == beyond && fits(even)) pass(even, 4);
  // and a path where blocks share the depth of few outputs
  const Shape deep = {33, 65, 1000};
  if (strategy->source.document == beyond && axes == deep.size() && fits(deep)) pass(deep, 0);
}

INSTANTIATE_TEST_SUITE_P(cpu, Gate, testing::ValuesIn(rows(Backend::cpu, false)), name_of_row);
INSTANTIATE_TEST_SUITE_P(gpu, Gate, testing::ValuesIn(rows(Backend::gpu, false)), name_of_row);
// the points of a sweep: the same kernels with other parameters
INSTANTIATE_TEST_SUITE_P(gpu_sweep, Gate, testing::ValuesIn(rows(Backend::gpu, true)), name_of_row);

}  // namespace
}  // namespace recheck
