// SPDX-License-Identifier: Apache-2.0
//
// A gate that lets everything pass would pass every other test. Here is what it must not let pass.
#include "mutants/mutants.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <regex>
#include <string>
#include <string_view>
#include <thread>

#include "../experiments/harness/gate.hpp"
#include "../experiments/harness/method.hpp"
#include "../experiments/harness/session.hpp"
#include "../experiments/matmul/matmul.hpp"
#include "../experiments/matvec/matvec.hpp"
#include "../experiments/memory/memory.hpp"
#include "../experiments/transpose/transpose.hpp"
#include "../reference/matmul.hpp"
#include "../reference/matvec.hpp"
#include "../reference/transpose.hpp"
#include "targets.hpp"

namespace recheck {
namespace {

using Table = std::span<const Strategy>;

/// A mutant, and the experiment that has to see through it.
struct Row {
  Experiment (*experiment)(Table);
  const Strategy* strategy;
  const mutants::Exploit* exploit = nullptr;  // where only being timed makes it one
};

enum class Code { spoiled, unspoiled };

std::vector<Row> rows(Code code, Table matmul, Table matvec, Table transpose, Table memory,
                      std::span<const mutants::Exploit> exploits) {
  std::vector<Row> chosen;
  const auto add = [&](auto experiment, Table table) {
    for (const auto& strategy : table)
      if (strategy.name.starts_with("unspoiled") == (code == Code::unspoiled))
        chosen.push_back({experiment, &strategy});
  };
  add(matmul::experiment, matmul);
  add(matvec::experiment, matvec);
  add(transpose::experiment, transpose);
  add(memory::experiment, memory);
  for (const auto& exploit : exploits)
    if (exploit.found.empty() == (code == Code::unspoiled))
      chosen.push_back({matmul::experiment, &exploit.row, &exploit});
  return chosen;
}

std::vector<Row> cpu_rows(Code code) {
  return rows(code, mutants::matmul_cpu(), mutants::matvec_cpu(), mutants::transpose_cpu(),
              mutants::memory_cpu(), mutants::exploits_cpu());
}

std::string name(const testing::TestParamInfo<Row>& info) {
  return std::string(info.param.experiment({}).name) + "_" + std::string(info.param.strategy->name);
}

/// What a session holds against a row whose proofs pass; nothing if it gives it a time.
Reason caught_when_timed(const Row& row) {
  const auto& [strategy, regime, shape, found] = *row.exploit;
  const Experiment experiment = row.experiment({&strategy, 1});
  Case c{&experiment, &strategy, shape(), regime};
  Case* const group[] = {&c};
  ++mutants::sessions;
  Session(
      {.budget_seconds = 0.05, .seed = 1}, found_gpu(), [](const Case&) {}, [] {})
      .measure(group);
  const Result result = c.result.value_or(Result{});
  EXPECT_EQ(c.seconds.has_value(), result.status == Status::passed);
  if (result.status == Status::passed) return {};
  std::string reason = result.reason.value_or("");
  EXPECT_EQ(result.status, Status::incorrect) << reason;
  EXPECT_TRUE(std::regex_search(reason, std::regex(std::string(found)))) << reason;
  return reason;
}

/// What the gate holds against a row, at the first shape that it does not pass; nothing if there is
/// none.
Reason caught(const Row& row) {
  if (row.exploit != nullptr) return caught_when_timed(row);
  const Strategy& strategy = *row.strategy;
  const Experiment experiment = row.experiment({&strategy, 1});
  Target& target = targets().of(strategy.launch.backend);
  int tried = 0;
  for (const auto& shape : experiment.edges) {
    if (refuse(strategy, shape, found_gpu())) continue;
    ++tried;
    const int padding = strategy.packed ? 0 : 3;
    const Result result = Workbench(experiment, shape, target, padding, 1).verify(strategy);
    if (result.status == Status::passed) continue;
    EXPECT_EQ(result.status, Status::incorrect);
    EXPECT_TRUE(result.reason.has_value());
    return to_string(shape) + ": " + result.reason.value_or("");
  }
  EXPECT_GT(tried, 0) << "no shape was tried";
  return {};
}

class Mutant : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    const Strategy& strategy = *GetParam().strategy;
    const auto* exploit = GetParam().exploit;
    const auto refused = exploit != nullptr ? refuse(strategy, exploit->shape(), found_gpu())
                                            : refuse(strategy, found_gpu());
    if (!refused) return;
    RecordProperty("skipped", *refused->reason);
    GTEST_SKIP() << *refused->reason;
  }
};

TEST_P(Mutant, IsCaught) {
  Reason reason = caught(GetParam());
  // on a busy machine a block may have one launch, and who saves work in all but the first none
  for (int i = 0; GetParam().exploit != nullptr && !reason && i < 5; ++i)
    reason = caught(GetParam());
  EXPECT_TRUE(reason) << "the gate let it pass at every shape";
  RecordProperty("caught", reason.value_or(""));
}

class Unspoiled : public Mutant {};

TEST_P(Unspoiled, Passes) {
  const Reason reason = caught(GetParam());
  EXPECT_FALSE(reason) << reason.value_or("");
}

INSTANTIATE_TEST_SUITE_P(cpu, Mutant, testing::ValuesIn(cpu_rows(Code::spoiled)), name);
INSTANTIATE_TEST_SUITE_P(cpu, Unspoiled, testing::ValuesIn(cpu_rows(Code::unspoiled)), name);
#ifdef RECHECK_HAVE_CUDA
std::vector<Row> gpu_rows(Code code) {
  return rows(code, mutants::matmul_gpu(), mutants::matvec_gpu(), mutants::transpose_gpu(),
              mutants::memory_gpu(), mutants::exploits_gpu());
}
INSTANTIATE_TEST_SUITE_P(gpu, Mutant, testing::ValuesIn(gpu_rows(Code::spoiled)), name);
INSTANTIATE_TEST_SUITE_P(gpu, Unspoiled, testing::ValuesIn(gpu_rows(Code::unspoiled)), name);

class Race : public Mutant {};

// at the edges' few blocks a missing barrier may do no harm, so this is about a size that is timed
TEST_P(Race, IsCaughtAtATimedSize) {
  const Strategy& strategy = *GetParam().strategy;
  Target& target = targets().of(Backend::gpu);
  const Experiment experiment = GetParam().experiment({&strategy, 1});
  Workbench bench(experiment, {1024, 1024, 1024}, target, 0, 1);
  const Result result = bench.verify(strategy);
  EXPECT_EQ(result.status, Status::incorrect);
  RecordProperty("caught", result.reason.value_or(""));
}

// for racecheck, which sees a race whether or not it does harm, and is slow
TEST_P(Race, RunsAtASmallSize) {
  const Strategy& strategy = *GetParam().strategy;
  Target& target = targets().of(Backend::gpu);
  const Experiment experiment = GetParam().experiment({&strategy, 1});
  Workbench bench(experiment, {64, 64, 64}, target, 0, 1);
  EXPECT_NE(bench.verify(strategy).status, Status::failed);
}

INSTANTIATE_TEST_SUITE_P(gpu, Race,
                         testing::ValuesIn(rows(Code::spoiled, mutants::matmul_gpu_races(), {}, {},
                                                {}, {})),
                         name);

// beyond the size up to which every element is known, one wrong element must still show
TEST(gpu_Mutant, OneElementOffIsCaughtAtATimedSize) {
  const Gpu& gpu = found_gpu();
  if (!gpu.device) GTEST_SKIP() << *gpu.reason;
  const auto& table = mutants::matmul_gpu();
  const auto mutant = std::ranges::find(table, "one_element_off", &Strategy::name);
  ASSERT_NE(mutant, table.end());
  Target& target = targets().of(Backend::gpu);
  const Experiment experiment = matmul::experiment(table);
  Workbench bench(experiment, {2048, 2048, 2048}, target, 0, 1);
  EXPECT_EQ(bench.verify(*mutant).status, Status::incorrect);
}

// the prediction said that it fits, the device says no: that case fails, the next one passes
TEST(gpu_Session, LosesOneCaseToARealOutOfMemoryAndGoesOn) {
  const Gpu& gpu = found_gpu();
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
  const Result out_of_memory = cases[0].result.value_or(Result{});
  EXPECT_EQ(out_of_memory.status, Status::failed);
  EXPECT_NE(out_of_memory.reason.value_or("").find("cudaErrorMemoryAllocation"), std::string::npos)
      << out_of_memory.reason.value_or("");
  EXPECT_EQ(cases[1].result.value_or(Result{}).status, Status::passed);
  EXPECT_TRUE(cases[1].seconds);
}

#endif

/// What a session says of a CPU row of an experiment.
Case measured(const Experiment& experiment, const Strategy& row, const Shape& shape,
              Regime regime) {
  Case c{&experiment, &row, shape, regime};
  Case* const group[] = {&c};
  Gpu none;
  none.reason = "none";
  Session({.budget_seconds = 0.05, .seed = 1}, none, [](const Case&) {}, [] {}).measure(group);
  c.experiment = nullptr;  // it may end before the case does
  return c;
}

/// What it says of a product that is alone in its table.
Case measured(const Strategy& strategy, Regime regime) {
  return measured(matmul::experiment({&strategy, 1}), strategy, {32, 24, 40}, regime);
}

// that it is less than fp32 shows on integers, and where TF32 is what it owes, it passes
TEST(Mutant, CutsWhereSumsAreLongIsCaught) {
  const auto judged = [](Strategy row, Arithmetic owes, std::int64_t k) {
    row.arithmetic = owes;
    const Experiment experiment = matmul::experiment({&row, 1});
    return Workbench(experiment, {5, 7, k}, targets().of(Backend::cpu), 3, 1).verify(row);
  };
  const Strategy right = mutants::mutant("right", matmul::cpu<reference::matmul_serial>);
  const auto& cuts = mutants::cpu_cuts_where_sums_are_long;
  for (const std::int64_t k : {2048, 8192, 100'000, 1 << 20}) {
    const Result result = judged(cuts, Arithmetic::fp32, k);
    EXPECT_EQ(result.status, Status::incorrect) << k;
    EXPECT_EQ(result.reason.value_or("").find("on integers"), 0U) << result.reason.value_or("");
    EXPECT_EQ(judged(cuts, Arithmetic::tf32, k).status, Status::passed) << k;
    EXPECT_EQ(judged(right, Arithmetic::fp32, k).status, Status::passed) << k;
  }
}

// so large that not every element is known
TEST(Mutant, RightWhereItIsLookedAtIsCaught) {
  const auto judged = [](const Strategy& row) {
    const Experiment experiment = matmul::experiment({&row, 1});
    return Workbench(experiment, {4100, 4100, 16}, targets().of(Backend::cpu), 3, 1).verify(row);
  };
  const Result result = judged(mutants::cpu_right_where_it_is_looked_at);
  EXPECT_EQ(result.status, Status::incorrect);
  EXPECT_NE(result.reason.value_or("").find("on integers"), std::string::npos)
      << result.reason.value_or("");
  const Strategy right = mutants::mutant("right", matmul::cpu<reference::matmul_serial>);
  EXPECT_EQ(judged(right).status, Status::passed);
}

// so large that a row of zeros is within what all of a row's sums may be off by
TEST(Mutant, DropsARowOfRealsIsCaught) {
  const auto judged = [](const Strategy& row) {
    const Experiment experiment = matmul::experiment({&row, 1});
    return Workbench(experiment, {96, 1024, 16384}, targets().of(Backend::cpu), 0, 1).verify(row);
  };
  const Result result = judged(mutants::cpu_drops_a_row_of_reals);
  EXPECT_EQ(result.status, Status::incorrect);
  EXPECT_NE(result.reason.value_or("").find("on reals"), std::string::npos)
      << result.reason.value_or("");
  EXPECT_EQ(judged(mutants::cpu_drops_no_row_of_reals).status, Status::passed);
}

void transpose_but_one(int rows, int columns, const float* in, std::int64_t ldin, float* out,
                       std::int64_t ldout) {
  reference::transpose_serial(rows, columns, in, ldin, out, ldout);
  std::swap(out[0], out[1]);
}

void transpose_and_more(int rows, int columns, const float* in, std::int64_t ldin, float* out,
                        std::int64_t ldout) {
  reference::transpose_serial(rows, columns, in, ldin, out, ldout);
  out[columns * ldout] = 0;  // behind its end
}

// the bits of a right output are known from then on: whoever has others is looked at
TEST(Gate, KnowsTheBitsThatAreRight) {
  const Strategy ladder[] = {
      mutants::mutant("right", transpose::cpu<reference::transpose_serial>),
      mutants::mutant("swaps two", transpose::cpu<transpose_but_one>),
      mutants::mutant("writes more", transpose::cpu<transpose_and_more>),
      mutants::mutant("as right", transpose::cpu<reference::transpose_serial>),
  };
  const Experiment experiment = transpose::experiment(ladder);
  Workbench bench(experiment, {31, 37}, targets().of(Backend::cpu), 3, 1);
  for (const auto& row : ladder) {
    const Result result = bench.verify(row);
    const bool right = row.launch.run == ladder[0].launch.run;
    EXPECT_EQ(result.status, right ? Status::passed : Status::incorrect) << row.name;
    if (right) {
      EXPECT_EQ(result.error->value, 0) << row.name;
    }
  }
}

int skipped = 0;

/// Does nothing where its output is right already, by its first element and its last.
void skips_what_is_right(int m, int n, int k, const float* a, std::int64_t lda, const float* b,
                         std::int64_t ldb, float* c, std::int64_t ldc) {
  const auto is_right = [&](int i, int j) {
    float sum = 0;
    reference::matmul_serial(1, 1, k, a + i * lda, lda, b + j, ldb, &sum, 1);
    return sum == c[i * ldc + j];
  };
  if (m > 0 && n > 0 && is_right(0, 0) && is_right(m - 1, n - 1))
    ++skipped;
  else
    reference::matmul_serial(m, n, k, a, lda, b, ldb, c, ldc);
}

// so small that nobody could tell by its time
TEST(Session, LeavesNoOutputThatALaunchCouldSkip) {
  const Strategy row = mutants::mutant("skips_what_is_right", matmul::cpu<skips_what_is_right>);
  skipped = 0;
  const Case c = measured(matmul::experiment({&row, 1}), row, {64, 64, 64}, Regime::hot);
  EXPECT_TRUE(c.seconds) << c.result.value_or(Result{}).reason.value_or("");
  EXPECT_EQ(skipped, 0);
}

TEST(Session, ChecksAgainAfterTiming) {
  const Case c = measured(mutants::cpu_spoils_when_timed, Regime::hot);
  EXPECT_EQ(c.result.value_or(Result{}).status, Status::incorrect);
  EXPECT_NE(c.result->reason.value_or("").find("after timing"), std::string::npos);
  EXPECT_FALSE(c.seconds) << "a wrong output must not have a time";
}

TEST(Session, ChecksAgainEndToEndWhereMemoryComesBack) {
  const Case c = measured(mutants::cpu_idles_when_timed, Regime::end_to_end);
  EXPECT_EQ(c.result.value_or(Result{}).status, Status::incorrect);
  EXPECT_FALSE(c.seconds);
}

/// Right, and its time depends on what it finds: as that of a histogram may, or of a sparse
/// product.
void depends_on_the_data(int m, int n, int k, const float* a, std::int64_t lda, const float* b,
                         std::int64_t ldb, float* c, std::int64_t ldc) {
  const bool reals = a[0] != std::round(a[0]);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(reals ? 0 : 5);
  while (std::chrono::steady_clock::now() < until) {
  }
  reference::matmul_serial(m, n, k, a, lda, b, ldb, c, ldc);
}

TEST(Session, ConvictsNoRowWhoseTimeDependsOnItsData) {
  const Strategy row = mutants::mutant("depends_on_the_data", matmul::cpu<depends_on_the_data>);
  const Experiment experiment = matmul::experiment({&row, 1});
  for (const auto regime : {Regime::hot, Regime::end_to_end}) {
    const Case c = measured(experiment, row, {64, 64, 64}, regime);
    EXPECT_EQ(c.result.value_or(Result{}).status, Status::passed)
        << c.result.value_or(Result{}).reason.value_or("");
    EXPECT_TRUE(c.seconds);
  }
}

/// Right, but slow enough for no sample to be worth waiting for.
void dawdles(int m, int n, int k, const float* a, std::int64_t lda, const float* b,
             std::int64_t ldb, float* c, std::int64_t ldc) {
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  reference::matmul_serial(m, n, k, a, lda, b, ldb, c, ldc);
}

TEST(Session, LeavesWhatTurnsOutTooSlowAfterItsProof) {
  const Case c = measured(mutants::mutant("dawdles", matmul::cpu<dawdles>), Regime::hot);
  EXPECT_EQ(c.result.value_or(Result{}).status, Status::not_run);
  const std::string reason = c.result->reason.value_or("");
  EXPECT_TRUE(reason.starts_with("its proof took ")) << reason;
  EXPECT_GE(std::stod(reason.substr(std::string_view("its proof took ").size())), 0.6) << reason;
  EXPECT_TRUE(c.samples.empty());
}

/// Slow where there is one row alone.
void dislikes_one_row(int rows, int columns, const float* a, std::int64_t lda, const float* v,
                      float* r) {
  if (rows == 1) std::this_thread::sleep_for(std::chrono::milliseconds(8));
  reference::matvec_serial(rows, columns, a, lda, v, r);
}

// the one long launch is of a shape like no other, so the short ones have to be heard as well
TEST(Session, LetsShortLaunchesSpeakAgainstASlowOne) {
  const Strategy row = mutants::mutant("dislikes_one_row", matvec::cpu<dislikes_one_row>);
  const Experiment experiment = matvec::experiment({&row, 1});
  Gpu none;
  none.reason = "there is none";
  Session session({.budget_seconds = 0.05, .seed = 1}, none, [](const Case&) {}, [] {});
  for (const Shape& shape : {Shape{1, 65536}, Shape{256, 256}, Shape{2048, 2048}}) {
    Case c{&experiment, &row, shape, Regime::hot};
    std::vector<Case*> group = {&c};
    session.measure(group);
    EXPECT_EQ(c.result.value_or(Result{}).status, Status::passed)
        << to_string(shape) << ": " << c.result.value_or(Result{}).reason.value_or("");
  }
}

Reason throws(const Shape&, const Device&) { throw std::runtime_error("it cannot say"); }

TEST(Session, KeepsAFailureOfWhatARowSaysOfItself) {
  Strategy row = mutants::mutant("row", matmul::cpu<reference::matmul_serial>);
  row.fits = throws;
  const Case c = measured(row, Regime::hot);
  EXPECT_EQ(c.result.value_or(Result{}).status, Status::failed);
  EXPECT_EQ(c.result->reason, "it cannot say");
  const Experiment experiment = matmul::experiment({&row, 1});
  EXPECT_FALSE(prove(experiment, row, targets()).wrong.empty());
}

void throws_a_number(int, int, int, const float*, std::int64_t, const float*, std::int64_t, float*,
                     std::int64_t) {
  throw 42;
}

TEST(Session, KeepsAFailureThatIsNoException) {
  const Strategy row = mutants::mutant("row", matmul::cpu<throws_a_number>);
  const Case c = measured(row, Regime::hot);
  EXPECT_EQ(c.result.value_or(Result{}).status, Status::failed);
  EXPECT_EQ(c.result->reason, threw_something);
  const Experiment experiment = matmul::experiment({&row, 1});
  EXPECT_FALSE(prove(experiment, row, targets()).wrong.empty());
}

TEST(Session, KeepsAFailureWhileTiming) {
  const Case c = measured(mutants::cpu_throws_when_timed, Regime::hot);
  EXPECT_EQ(c.result.value_or(Result{}).status, Status::failed);
  EXPECT_EQ(c.result->reason, "no more");
  EXPECT_FALSE(c.seconds);
}

TEST(Session, NamesTheInputThatTimedLaunchesHaveChanged) {
  const Case c = measured(mutants::cpu_changes_its_input_when_timed, Regime::hot);
  EXPECT_EQ(c.result.value_or(Result{}).status, Status::incorrect);
  EXPECT_EQ(c.result->reason.value_or("").find("after timing, it has changed its input 2 of 2"), 0U)
      << c.result->reason.value_or("");
  EXPECT_FALSE(c.seconds);
}

/// Throws where it meets integers once it has been proven.
void throws_at_a_surprise(int rows, int columns, const float* a, std::int64_t lda, const float* v,
                          float* r) {
  static int calls = 0;
  if (++calls > 2 && a[0] == std::round(a[0])) throw std::runtime_error("not these");
  reference::matvec_serial(rows, columns, a, lda, v, r);
}

TEST(Session, PutsTheInputsBackWhereALaunchThrowsAmidASurprise) {
  const Strategy rows[] = {
      mutants::mutant("throws_at_a_surprise", matvec::cpu<throws_at_a_surprise>),
      mutants::mutant("right", matvec::cpu<reference::matvec_serial>)};
  const Experiment experiment = matvec::experiment(rows);
  Case cases[] = {{&experiment, &rows[0], {97, 113}, Regime::hot},
                  {&experiment, &rows[1], {97, 113}, Regime::hot}};
  Case* const group[] = {&cases[0], &cases[1]};
  Gpu none;
  none.reason = "none";
  Session({.budget_seconds = 0.05, .seed = 1}, none, [](const Case&) {}, [] {}).measure(group);
  EXPECT_EQ(cases[0].result.value_or(Result{}).status, Status::failed);
  EXPECT_EQ(cases[0].result.value_or(Result{}).reason, "not these");
  EXPECT_EQ(cases[1].result.value_or(Result{}).status, Status::passed)
      << cases[1].result.value_or(Result{}).reason.value_or("");
  EXPECT_TRUE(cases[1].seconds) << "it pays for the one before it";
}

void nothing(int, int, const float*, std::int64_t, const float*, float*) {}

/// Right for its two proofs, and then no more.
void relapses(int rows, int columns, const float* a, std::int64_t lda, const float* v, float* r) {
  static int calls = 0;
  reference::matvec_serial(rows, columns, a, lda, v, r);
  if (++calls > 2) r[rows - 1] = 0;
}

/// A part, which has no output, and the product that has to be right for it.
template <auto whole>
constexpr Strategy with_part[] = {{.name = "part",
                                   .source = {"mutant", "tests"},
                                   .role = Role::part,
                                   .part_of = "whole",
                                   .launch = matvec::cpu<nothing>},
                                  mutants::mutant("whole", matvec::cpu<whole>)};

template <auto whole>
Result verified_part() {
  const Experiment experiment = matvec::experiment(with_part<whole>);
  return Workbench(experiment, {31, 37}, targets().of(Backend::cpu), 3, 1)
      .verify(with_part<whole>[0]);
}

template <auto whole>
Case measured_part() {
  return measured(matvec::experiment(with_part<whole>), with_part<whole>[0], {31, 37}, Regime::hot);
}

TEST(Part, IsProvenByItsWhole) {
  EXPECT_EQ(verified_part<reference::matvec_serial>().status, Status::passed);
  EXPECT_TRUE(measured_part<reference::matvec_serial>().seconds);
}

TEST(Part, IsRefutedWithItsWhole) {
  EXPECT_EQ(verified_part<nothing>().status, Status::incorrect);
  const Case c = measured_part<nothing>();
  EXPECT_EQ(c.result.value_or(Result{}).status, Status::incorrect);
  EXPECT_FALSE(c.seconds) << "a part of something wrong must not have a time";
}

TEST(Part, IsRefutedWhereItsWholeGoesWrongLater) {
  const Case c = measured_part<relapses>();
  EXPECT_EQ(c.result.value_or(Result{}).status, Status::incorrect);
  EXPECT_NE(c.result->reason.value_or("").find("after timing"), std::string::npos);
  EXPECT_FALSE(c.seconds);
}

}  // namespace
}  // namespace recheck
