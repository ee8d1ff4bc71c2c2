// SPDX-License-Identifier: Apache-2.0
//
// A gate that accepts everything would pass every other test. It must refuse these rows.
#include "mutants/mutants.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <regex>
#include <string>
#include <string_view>

#include "../experiments/harness/case/requirements.hpp"
#include "../experiments/harness/prove/gate.hpp"
#include "../experiments/harness/time/runner.hpp"
#include "../experiments/matmul/matmul.hpp"
#include "../experiments/matvec/matvec.hpp"
#include "../experiments/memory/memory.hpp"
#include "../experiments/transpose/transpose.hpp"
#include "../reference/matmul.hpp"
#include "../reference/matvec.hpp"
#include "../reference/transpose.hpp"
#include "expect.hpp"
#include "outside/histogram/histogram.hpp"
#include "outside/stencil/stencil.hpp"
#include "targets.hpp"

namespace recheck {
namespace {

using Table = std::span<const Strategy>;

/// A mutant, and the experiment that has to detect it.
struct Row {
  Experiment (*experiment)(Table);
  const Strategy* strategy;
  const mutants::Exploit* exploit = nullptr;  // set if it is wrong only when timed
};

enum class Code { spoiled, unspoiled };

constexpr Experiment (*experiments[])(Table) = {
    matmul::experiment,    matvec::experiment,        transpose::experiment,     memory::experiment,
    histogram::experiment, stencil::experiment<fp16>, stencil::experiment<float>};

/// The rows of tables of mutants, in the order of the experiments.
std::vector<Row> rows(Code code, std::initializer_list<Table> tables,
                      std::span<const mutants::Exploit> exploits) {
  std::vector<Row> chosen;
  for (auto experiment = experiments; const Table table : tables) {
    for (const auto& strategy : table)
      if (strategy.name.starts_with("unspoiled") == (code == Code::unspoiled))
        chosen.push_back({*experiment, &strategy});
    ++experiment;
  }
  for (const auto& exploit : exploits)
    if (exploit.found.empty() == (code == Code::unspoiled))
      chosen.push_back({matmul::experiment, &exploit.row, &exploit});
  return chosen;
}

std::vector<Row> cpu_rows(Code code) {
  return rows(code,
              {mutants::matmul_cpu(), mutants::matvec_cpu(), mutants::transpose_cpu(),
               mutants::memory_cpu(), mutants::histogram_cpu(), mutants::stencil_fp16_cpu(),
               mutants::stencil_fp32_cpu()},
              mutants::exploits_cpu());
}

std::string name(const testing::TestParamInfo<Row>& info) {
  return std::string(info.param.experiment({}).name) + "_" + std::string(info.param.strategy->name);
}

/// Why a run refuses a row whose proofs pass; nothing if the row gets a time.
Reason caught_when_timed(const Row& row) {
  const auto& [strategy, regime, shape, found] = *row.exploit;
  const Experiment experiment = row.experiment({&strategy, 1});
  Case c{&experiment, &strategy, shape(), regime};
  Case* const group[] = {&c};
  ++mutants::runs;
  Runner({.budget_seconds = 0.05, .seed = 1}, found_gpu()).run(group);
  const Result result = c.result.value_or(Result{});
  EXPECT_EQ(c.seconds.has_value(), result.status == Status::passed);
  if (result.status == Status::passed) return {};
  std::string reason = result.reason.value_or("");
  EXPECT_EQ(result.status, Status::incorrect) << reason;
  EXPECT_TRUE(std::regex_search(reason, std::regex(std::string(found)))) << reason;
  return reason;
}

/// The gate's reason against a row, at the first shape where it fails; nothing if it passes
/// everywhere.
Reason caught(const Row& row) {
  if (row.exploit != nullptr) return caught_when_timed(row);
  const Strategy& strategy = *row.strategy;
  const Experiment experiment = row.experiment({&strategy, 1});
  Target& target = targets().of(strategy.launch.backend);
  int tried = 0;
  for (const auto& shape : experiment.edges) {
    if (refuse(strategy, shape, found_gpu())) continue;
    // this many tiles need a GPU's blocks
    const auto size =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    if (strategy.launch.backend == Backend::cpu && size > 1 << 27) continue;
    ++tried;
    const int padding = strategy.packed ? 0 : 3;
    const Result result = Gate(experiment, shape, target, padding, 1).prove(strategy);
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
  // on a busy machine a block may have one launch, which a row that skips all others still does
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
  return rows(code,
              {mutants::matmul_gpu(), mutants::matvec_gpu(), mutants::transpose_gpu(),
               mutants::memory_gpu(), mutants::histogram_gpu(), mutants::stencil_fp16_gpu(),
               mutants::stencil_fp32_gpu()},
              mutants::exploits_gpu());
}
INSTANTIATE_TEST_SUITE_P(gpu, Mutant, testing::ValuesIn(gpu_rows(Code::spoiled)), name);
INSTANTIATE_TEST_SUITE_P(gpu, Unspoiled, testing::ValuesIn(gpu_rows(Code::unspoiled)), name);

class Race : public Mutant {
 protected:
  static Result proven(std::int64_t width) {
    const Strategy& strategy = *GetParam().strategy;
    const Experiment experiment = GetParam().experiment({&strategy, 1});
    Gate gate(experiment, {width, width, width}, targets().of(Backend::gpu), 0, 1);
    return gate.prove(strategy);
  }
};

// the few blocks at the edges may hide a missing barrier, so this tests a timed size
TEST_P(Race, IsCaughtAtATimedSize) {
  const Result result = proven(1024);
  EXPECT_EQ(result.status, Status::incorrect);
  RecordProperty("caught", result.reason.value_or(""));
}

// for racecheck, which is slow but detects a race even if it does no harm
TEST_P(Race, RunsAtASmallSize) { EXPECT_NE(proven(64).status, Status::failed); }

class NoRace : public Race {};
TEST_P(NoRace, PassesAtATimedSize) { EXPECT_EQ(proven(1024).status, Status::passed); }
TEST_P(NoRace, PassesAtASmallSize) { EXPECT_EQ(proven(64).status, Status::passed); }

std::vector<Row> races(Code code) { return rows(code, {mutants::matmul_gpu_races()}, {}); }
INSTANTIATE_TEST_SUITE_P(gpu, Race, testing::ValuesIn(races(Code::spoiled)), name);
INSTANTIATE_TEST_SUITE_P(gpu, NoRace, testing::ValuesIn(races(Code::unspoiled)), name);

#endif

/// The gate's result for a CPU product that is alone in its table.
Result judged(const Strategy& row, const Shape& shape, int padding) {
  const Experiment experiment = matmul::experiment({&row, 1});
  return Gate(experiment, shape, targets().of(Backend::cpu), padding, 1).prove(row);
}

void expect_caught(const Result& result, std::string_view on) {
  EXPECT_EQ(result.status, Status::incorrect);
  EXPECT_TRUE(has(result.reason.value_or(""), on));
}

constexpr Strategy right = mutants::mutant("right", matmul::cpu<reference::matmul_serial>);

// integers show that it has less than fp32's precision; it passes if it owes only TF32
TEST(Mutant, CuttingInputsInLongSumsIsCaught) {
  Strategy cuts = mutants::other_cpu("cuts_where_sums_are_long");
  for (const std::int64_t k : {2048, 8192, 100'000}) {
    const Shape shape = {5, 7, k};
    cuts.arithmetic = Arithmetic::fp32;
    expect_caught(judged(cuts, shape, 3), "on integers");
    cuts.arithmetic = Arithmetic::tf32;
    EXPECT_EQ(judged(cuts, shape, 3).status, Status::passed) << k;
    EXPECT_EQ(judged(right, shape, 3).status, Status::passed) << k;
  }
}

// so large that not every element is checked
TEST(Mutant, RightOnlyInTheCheckedRowsIsCaught) {
  const Shape shape = {4100, 4100, 16};
  expect_caught(judged(mutants::other_cpu("right_where_it_is_looked_at"), shape, 3), "on integers");
  EXPECT_EQ(judged(right, shape, 3).status, Status::passed);
}

// so large that a row of zeros is within the error bound of the row's sum
TEST(Mutant, DroppingARowOfRealsIsCaught) {
  const Shape shape = {96, 1024, 16384};
  expect_caught(judged(mutants::other_cpu("drops_a_row_of_reals"), shape, 0), "on reals");
  EXPECT_EQ(judged(mutants::other_cpu("drops_no_row_of_reals"), shape, 0).status, Status::passed);
}

using kernels::transpose::TransposeArgs;

void transpose_but_one(const TransposeArgs& p) {
  reference::transpose_serial(p.rows, p.columns, p.in, p.ldin, p.out, p.ldout);
  std::swap(p.out[0], p.out[1]);
}

void transpose_and_more(const TransposeArgs& p) {
  reference::transpose_serial(p.rows, p.columns, p.in, p.ldin, p.out, p.ldout);
  p.out[p.columns * p.ldout] = 0;  // after its end
}

// right outputs are remembered by their bits: any other bits must be judged
TEST(Gate, RemembersTheBitsOfARightOutput) {
  const Strategy ladder[] = {
      mutants::mutant("right", transpose::cpu<reference::transpose_serial>),
      mutants::mutant("swaps two", mutants::on_cpu<transpose_but_one, transpose::arguments>),
      mutants::mutant("writes more", mutants::on_cpu<transpose_and_more, transpose::arguments>),
      mutants::mutant("as right", transpose::cpu<reference::transpose_serial>),
  };
  const Experiment experiment = transpose::experiment(ladder);
  Gate gate(experiment, {31, 37}, targets().of(Backend::cpu), 3, 1);
  for (const auto& row : ladder) {
    const Result result = gate.prove(row);
    const bool right = row.launch.run == ladder[0].launch.run;
    EXPECT_EQ(result.status, right ? Status::passed : Status::incorrect) << row.name;
    if (right) {
      EXPECT_EQ(result.error->value, 0) << row.name;
    }
  }
}

}  // namespace
}  // namespace recheck
