// SPDX-License-Identifier: Apache-2.0
//
// A gate that lets everything pass would pass every other test. Here is what it must not let pass.
#include <gtest/gtest.h>

#include "../experiments/harness/session.hpp"
#include "../experiments/matmul/matmul.hpp"
#include "mutants/matmul.hpp"

namespace recheck {
namespace {

class Mutant : public testing::TestWithParam<const Strategy*> {};

std::vector<const Strategy*> pointers(std::span<const Strategy> table) {
  std::vector<const Strategy*> all;
  for (const auto& strategy : table) all.push_back(&strategy);
  return all;
}

std::string name(const testing::TestParamInfo<const Strategy*>& info) {
  return "matmul_" + std::string(info.param->name);
}

TEST_P(Mutant, IsCaught) {
  const Strategy& mutant = *GetParam();
  const Gpu gpu = find_gpu();
  const Experiment experiment = matmul::experiment({&mutant, 1});
  if (const auto refusal = refuse(mutant, {1, 1, 1}, gpu)) {
    RecordProperty("skipped", *refusal->reason);
    GTEST_SKIP() << *refusal->reason;
  }
  const auto target =
      mutant.launch.backend == Backend::cpu ? make_cpu_target() : make_gpu_target(*gpu.device);
  std::string caught;
  for (const auto& shape : experiment.edges) {
    Workbench bench(experiment, shape, *target, 3, 1);
    const Verdict verdict = bench.verify(mutant);
    if (verdict.status == Status::passed) continue;
    EXPECT_EQ(verdict.status, Status::incorrect);
    EXPECT_TRUE(verdict.reason.has_value());
    caught = to_string(shape) + ": " + verdict.reason.value_or("");
    break;
  }
  EXPECT_FALSE(caught.empty()) << "the gate let " << mutant.name << " pass at every shape";
  RecordProperty("caught", caught);
}

INSTANTIATE_TEST_SUITE_P(cpu, Mutant, testing::ValuesIn(pointers(mutants::matmul_cpu())), name);
#ifdef RECHECK_HAVE_CUDA
INSTANTIATE_TEST_SUITE_P(gpu, Mutant, testing::ValuesIn(pointers(mutants::matmul_gpu())), name);

// beyond the size up to which every element is known, one wrong element must still show
TEST(gpu_Mutant, OneElementOffIsCaughtAtATimedSize) {
  const Gpu gpu = find_gpu();
  if (!gpu.device) GTEST_SKIP() << *gpu.reason;
  const auto& table = mutants::matmul_gpu();
  const auto mutant = std::ranges::find(table, "one_element_off", &Strategy::name);
  ASSERT_NE(mutant, table.end());
  const auto target = make_gpu_target(*gpu.device);
  Workbench bench(matmul::experiment(table), {2048, 2048, 2048}, *target, 0, 1);
  EXPECT_EQ(bench.verify(*mutant).status, Status::incorrect);
}

// the prediction said that it fits, the device says no: that case fails, the next one passes
TEST(gpu_Session, LosesOneCaseToARealOutOfMemoryAndGoesOn) {
  const Gpu gpu = find_gpu();
  if (!gpu.device) GTEST_SKIP() << *gpu.reason;
  const auto tiles = matmul::ladder();
  const auto tile16 = std::ranges::find(tiles, "tile16", &Strategy::name);
  ASSERT_NE(tile16, tiles.end());
  const Strategy table[] = {mutants::gpu_allocates_too_much, *tile16};
  const Experiment experiment = matmul::experiment(table);
  std::vector<Case> cases;
  for (const auto& strategy : table)
    cases.push_back({&experiment, &strategy, {64, 48, 80}, Regime::cold});
  std::vector<Case*> group = {&cases[0], &cases[1]};
  Session({.budget_seconds = 0.1, .seed = 1}, gpu, [](const Case&) {}, [] {}).measure(group);
  const Verdict out_of_memory = cases[0].verdict.value_or(Verdict{});
  EXPECT_EQ(out_of_memory.status, Status::failed);
  EXPECT_NE(out_of_memory.reason.value_or("").find("cudaErrorMemoryAllocation"), std::string::npos)
      << out_of_memory.reason.value_or("");
  EXPECT_EQ(cases[1].verdict.value_or(Verdict{}).status, Status::passed);
  EXPECT_TRUE(cases[1].seconds);
}
#endif

/// What a session says of a CPU strategy at one small shape.
Case measured(const Strategy& strategy, Regime regime) {
  static std::vector<Experiment> kept;  // a case points to its experiment
  kept.reserve(8);
  kept.push_back(matmul::experiment({&strategy, 1}));
  Case c{&kept.back(), &strategy, {32, 24, 40}, regime};
  Case* group[] = {&c};
  Gpu none;
  none.reason = "none";
  Session({.budget_seconds = 0.05, .seed = 1}, none, [](const Case&) {}, [] {}).measure(group);
  return c;
}

TEST(Session, ChecksAgainAfterTiming) {
  const Case c = measured(mutants::cpu_spoils_when_timed, Regime::hot);
  EXPECT_EQ(c.verdict.value_or(Verdict{}).status, Status::incorrect);
  EXPECT_NE(c.verdict->reason.value_or("").find("after timing"), std::string::npos);
  EXPECT_FALSE(c.seconds) << "a wrong output must not have a time";
}

TEST(Session, ChecksAgainEndToEndWhereMemoryComesBack) {
  const Case c = measured(mutants::cpu_idles_when_timed, Regime::end_to_end);
  EXPECT_EQ(c.verdict.value_or(Verdict{}).status, Status::incorrect);
  EXPECT_FALSE(c.seconds);
}

TEST(Session, KeepsAFailureWhileTiming) {
  const Case c = measured(mutants::cpu_throws_when_timed, Regime::hot);
  EXPECT_EQ(c.verdict.value_or(Verdict{}).status, Status::failed);
  EXPECT_EQ(c.verdict->reason, "no more");
  EXPECT_FALSE(c.seconds);
}

}  // namespace
}  // namespace recheck
