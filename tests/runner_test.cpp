// SPDX-License-Identifier: Apache-2.0
//
// Runs with rows that fail, are slow or throw once they are timed.
#include "../experiments/harness/time/runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../experiments/harness/prove/edge_proofs.hpp"
#include "../experiments/matmul/matmul.hpp"
#include "../experiments/matvec/matvec.hpp"
#include "../reference/matmul.hpp"
#include "../reference/matvec.hpp"
#include "expect.hpp"
#include "mutants/mutants.hpp"
#include "targets.hpp"

namespace recheck {
namespace {

using kernels::matmul::MatmulArgs;

const Settings settings = {.budget_seconds = 0.05, .seed = 1},
               hurried = {.budget_seconds = 0.01, .seed = 1};

/// A machine without a GPU.
Gpu no_gpu() { return {.device = {}, .reason = "no GPU", .driver = "", .runtime = ""}; }

std::vector<Case*> pointers(std::vector<Case>& cases) {
  std::vector<Case*> all(cases.size());
  std::ranges::transform(cases, all.begin(), [](Case& c) { return &c; });
  return all;
}

/// The results of a run of an experiment's rows at a shape.
std::vector<Case> measured(const Experiment& experiment, const Shape& shape, Regime regime,
                           const Gpu& gpu = no_gpu(), const Settings& own = settings) {
  std::vector<Case> cases;
  for (const auto& row : experiment.ladder) cases.push_back({&experiment, &row, shape, regime});
  const auto group = pointers(cases);
  Runner(own, gpu).run(group);
  for (const Case& c : cases) {
    EXPECT_EQ(c.seconds.has_value(), c.result.value_or(Result{}).passed()) << c.id();
    EXPECT_EQ(c.result->code.has_value(), !c.result->passed()) << c.id();
  }
  return cases;
}

/// The result of a run of a product that is alone in its table.
Result measured(const Strategy& row, Regime regime = Regime::hot) {
  return measured(matmul::experiment({&row, 1}), {32, 24, 40}, regime)[0].result.value_or(Result{});
}

void multiply(const MatmulArgs& p) {
  reference::matmul_serial(p.m, p.n, p.k, p.a, p.lda, p.b, p.ldb, p.c, p.ldc);
}

/// A product on the CPU.
template <auto f>
constexpr Strategy cpu_row(std::string_view name) {
  return mutants::mutant(name, mutants::on_cpu<f, matmul::arguments>);
}

void expect(const Result& result, ReasonCode code, const std::string& words) {
  ASSERT_TRUE(result.code) << name_of(result.status) << result.reason.value_or("");
  EXPECT_EQ(kind_of(*result.code).name, kind_of(code).name) << *result.reason;
  EXPECT_EQ(result.status, kind_of(code).status);
  EXPECT_TRUE(has(result.reason.value_or(""), words));
}

#ifdef RECHECK_HAVE_CUDA
using gpu_Run = OnGpu;
// memory was predicted to suffice but does not: that case fails, and the next one passes
TEST_F(gpu_Run, ContinuesAfterARealOutOfMemory) {
  const auto tiles = matmul::ladder();
  const auto tile16 = std::ranges::find(tiles, "tile16", &Strategy::name);
  ASSERT_NE(tile16, tiles.end());
  const Strategy table[] = {mutants::gpu_allocates_too_much, *tile16};
  const auto cases = measured(matmul::experiment(table), {64, 48, 80}, Regime::cold, gpu);
  expect(*cases[0].result, ReasonCode::out_of_memory, "cudaErrorMemoryAllocation");
  EXPECT_TRUE(cases[1].result->passed()) << cases[1].result->reason.value_or("");
}
#endif

int skipped = 0;

/// Does nothing if the first and the last element of its output are already right.
void skips_what_is_right(const MatmulArgs& p) {
  const auto is_right = [&](int i, int j) {
    float sum = 0;
    reference::matmul_serial(1, 1, p.k, p.a + i * p.lda, p.lda, p.b + j, p.ldb, &sum, 1);
    return sum == p.c[i * p.ldc + j];
  };
  if (p.m > 0 && p.n > 0 && is_right(0, 0) && is_right(p.m - 1, p.n - 1))
    ++skipped;
  else
    multiply(p);
}

// so small that its time cannot reveal it
TEST(Run, LeavesNoRightOutputForALaunchToReuse) {
  const auto result = measured(cpu_row<skips_what_is_right>("skips_what_is_right"));
  EXPECT_TRUE(result.passed()) << result.reason.value_or("");
  EXPECT_EQ(skipped, 0);
}

void throws_a_number(const MatmulArgs&) { throw 42; }

Reason throws(const Shape&, const Device&) { throw std::runtime_error("it cannot say"); }

TEST(Run, FailsACaseWhoseRowGoesWrongWhenTimed) {
  expect(measured(mutants::other_cpu("spoils_when_timed")), ReasonCode::wrong_output,
         "after timing");
  expect(measured(mutants::other_cpu("idles_when_timed"), Regime::end_to_end),
         ReasonCode::wrong_output, "");
  expect(measured(mutants::other_cpu("throws_when_timed")), ReasonCode::threw, "no more");
  expect(measured(mutants::other_cpu("changes_its_input_when_timed")), ReasonCode::changed_input,
         "after timing, it has changed its input 1, counted from 0");
}

TEST(Run, FailsACaseWhoseRowThrows) {
  const auto number = cpu_row<throws_a_number>("row");
  auto of_itself = cpu_row<multiply>("row");
  of_itself.fits = throws;
  expect(measured(number), ReasonCode::threw, threw_something);
  expect(measured(of_itself), ReasonCode::threw, "it cannot say");
  for (const auto& row : {number, of_itself}) {
    const Experiment experiment = matmul::experiment({&row, 1});
    EdgeGates gates;
    EXPECT_FALSE(prove_edges(experiment, row, targets(), gates).wrong.empty());
  }
}

/// A right row whose time depends on its data, as that of a histogram or a sparse product may.
void depends_on_the_data(const MatmulArgs& p) {
  const bool reals = p.a[0] != std::round(p.a[0]);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(reals ? 0 : 5);
  while (std::chrono::steady_clock::now() < until) {
  }
  multiply(p);
}

TEST(Run, RejectsNoRowWhoseTimeDependsOnItsData) {
  const Strategy row = cpu_row<depends_on_the_data>("depends_on_the_data");
  for (const auto regime : {Regime::hot, Regime::end_to_end}) {
    const Result result = measured(row, regime);
    EXPECT_TRUE(result.passed()) << result.reason.value_or("");
  }
}

int launches = 0, milliseconds = 0;

void counts_its_launches(const MatmulArgs& p) {
  ++launches;
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  multiply(p);
}

/// The case of a row whose launches take this long.
Case slow_case(int duration, const Settings& own = settings) {
  launches = 0;
  milliseconds = duration;
  static const Strategy row = cpu_row<counts_its_launches>("counts");
  static const Experiment experiment = matmul::experiment({&row, 1});
  return measured(experiment, {32, 24, 40}, Regime::hot, no_gpu(), own)[0];
}

// its two proofs, a launch on fresh inputs, and three more
TEST(Run, LaunchesASlowRowOfTheCpuSixTimes) {
  const Case slow = slow_case(110);
  EXPECT_TRUE(slow.result->passed()) << slow.result->reason.value_or("");
  EXPECT_EQ(launches, 6);
  ASSERT_EQ(slow.samples.size(), 6U);
  EXPECT_GE(*std::ranges::min_element(slow.samples), 0.11);
  std::set<int> rounds;
  for (const auto& block : slow.blocks) rounds.insert(block.round);
  EXPECT_EQ(rounds, (std::set<int>{4, 7, 9, 11, 24, 25}));
  EXPECT_EQ(slow.blocks.size(), 6U);
}

TEST(Run, SkipsARowThatIsTooSlowInItsProof) {
  expect(*slow_case(110, hurried).result, ReasonCode::too_slow, "its proof took ");
}

// its two proofs and a launch on fresh inputs, however small its budget
TEST(Run, LaunchesAVerySlowRowOfTheCpuThreeTimes) {
  const Case slow = slow_case(510, hurried);
  EXPECT_TRUE(slow.result->passed()) << slow.result->reason.value_or("");
  EXPECT_EQ(launches, 3);
  EXPECT_TRUE(slow.result->error);
  EXPECT_EQ(slow.samples.size(), 3U);
  EXPECT_LE(slow.seconds->low, slow.seconds->high);
}

#ifndef __SANITIZE_ADDRESS__
/// Like a tile without its guard.
void writes_far_behind(const MatmulArgs& p) {
  multiply(p);
  std::fill_n(p.c + p.m * p.ldc, 40 * p.ldc, 1.0F);
}

TEST(Run, LosesNoOtherRowToOneThatWritesFarAfterItsOutput) {
  const Strategy rows[] = {cpu_row<writes_far_behind>("far"), cpu_row<multiply>("right")};
  const auto cases = measured(matmul::experiment(rows), {32, 24, 40}, Regime::hot);
  expect(*cases[0].result, ReasonCode::wrote_outside, "outside");
  EXPECT_TRUE(cases[1].result->passed()) << cases[1].result->reason.value_or("");
}
#endif

/// A right row that also writes the word at this place of its workspace.
template <int at>
void marks_its_workspace(const Call& call) {
  multiply(matmul::arguments(call));
  call.queue.workspace[at] = 1;
}
template <int at, int floats>
constexpr Strategy marking(std::string_view name) {
  Strategy row = mutants::mutant(name, {Backend::cpu, marks_its_workspace<at>});
  if (floats > 0) row.workspace = [](const Shape&) { return std::int64_t{floats}; };
  return row;
}

TEST(Run, KeepsEachRowWithinItsOwnWorkspace) {
  const Strategy rows[] = {marking<63, 64>("large"), marking<7, 8>("small"),
                           marking<8, 8>("after"),   marking<64, 64>("after_the_largest"),
                           marking<-1, 8>("before"), marking<0, 0>("without")};
  const auto cases = measured(matmul::experiment(rows), {32, 24, 40}, Regime::hot);
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(cases[i].result->passed()) << cases[i].result->reason.value_or("");
  for (int i = 2; i < 6; ++i)
    expect(*cases[i].result, ReasonCode::wrote_outside, "outside its workspace");
}

int calls = 0;

/// Takes longer with each call, by more than other programs could delay it.
void slows(const MatmulArgs& p) {
  multiply(p);
  std::this_thread::sleep_for(std::chrono::milliseconds(1) * ++calls);
}

/// Right in its proofs, but no longer once it has run for a while.
void tires(const MatmulArgs& p) {
  multiply(p);
  if (++calls > 4) p.c[0] += 1;
}

TEST(Run, TimesASustainedRowByWindowsAndJudgesItsOutput) {
  const Strategy rows[] = {cpu_row<slows>("one"), cpu_row<slows>("other")};
  for (const Case& c : measured(matmul::experiment(rows), {32, 24, 40}, Regime::sustained)) {
    EXPECT_TRUE(c.result->passed()) << c.result->reason.value_or("");
    EXPECT_EQ(c.samples.size(), static_cast<std::size_t>(sustained_windows));
    EXPECT_EQ(c.blocks.size(), c.samples.size());
    EXPECT_TRUE(c.settling);
    EXPECT_TRUE(has(c.disturbed.value_or(""), "% longer when it was measured again"));
  }
  calls = 0;
  expect(measured(cpu_row<tires>("tires"), Regime::sustained), ReasonCode::wrong_output,
         "after timing");
}

/// Throws if it finds integers after its proofs.
void throws_on_fresh_inputs(int rows, int columns, const float* a, std::int64_t lda, const float* v,
                            float* r) {
  static int calls = 0;
  if (++calls > 2 && a[0] == std::round(a[0])) throw std::runtime_error("not these");
  reference::matvec_serial(rows, columns, a, lda, v, r);
}

TEST(Run, RestoresTheInputsIfALaunchThrowsOnFreshOnes) {
  const Strategy rows[] = {
      mutants::mutant("throws_on_fresh_inputs", matvec::cpu<throws_on_fresh_inputs>),
      mutants::mutant("right", matvec::cpu<reference::matvec_serial>)};
  const auto cases = measured(matvec::experiment(rows), {97, 113}, Regime::hot);
  expect(*cases[0].result, ReasonCode::threw, "not these");
  EXPECT_TRUE(cases[1].result->passed()) << "it pays for the one before it";
}

// results are journaled as they come, each once
TEST(Run, ReportsEachCaseWhenItEnds) {
  const Strategy rows[] = {mutants::other_cpu("spoils_when_timed"), cpu_row<multiply>("right"),
                           cpu_row<throws_a_number>("throws")};
  const Experiment experiment = matmul::experiment(rows);
  std::vector<Case> cases;
  for (const auto& row : rows)
    for (const auto regime : {Regime::hot, Regime::end_to_end})
      cases.push_back({&experiment, &row, {32, 24, 40}, regime});
  const auto group = pointers(cases);
  std::map<std::string, int> ended;
  Runner(settings, no_gpu(),
         {.on_finish =
              [&](const Case& c) {
                EXPECT_TRUE(c.result);
                ++ended[c.id()];
              }})
      .run(group);
  EXPECT_EQ(ended.size(), cases.size());
  for (const auto& [id, times] : ended) EXPECT_EQ(times, 1) << id;
}

void nothing(int, int, const float*, std::int64_t, const float*, float*) {}

/// Right in its two proofs and wrong afterwards.
void relapses(int rows, int columns, const float* a, std::int64_t lda, const float* v, float* r) {
  static int calls = 0;
  reference::matvec_serial(rows, columns, a, lda, v, r);
  if (++calls > 2) r[rows - 1] = 0;
}

/// The result of a component, which has no output, if `whole` is the product that proves it.
template <auto whole>
Result measured_part() {
  static constexpr Strategy rows[] = {{.name = "part",
                                       .source = {"mutant", "tests"},
                                       .role = Role::part,
                                       .part_of = "whole",
                                       .launch = matvec::cpu<nothing>},
                                      mutants::mutant("whole", matvec::cpu<whole>)};
  const Experiment experiment = matvec::experiment(rows);
  Case c{&experiment, &rows[0], {31, 37}, Regime::hot};
  Case* const group[] = {&c};
  Runner(settings, no_gpu()).run(group);
  EXPECT_EQ(c.seconds.has_value(), c.result.value_or(Result{}).passed());
  return c.result.value_or(Result{});
}

TEST(Part, IsProvenAndRefutedWithItsWhole) {
  EXPECT_TRUE(measured_part<reference::matvec_serial>().passed());
  expect(measured_part<nothing>(), ReasonCode::wrong_output, "on integers");
  expect(measured_part<relapses>(), ReasonCode::wrong_output, "after timing");
}

}  // namespace
}  // namespace recheck
