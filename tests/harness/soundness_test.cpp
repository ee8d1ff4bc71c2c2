// SPDX-License-Identifier: Apache-2.0
//
// Checks that accept wrong outputs, rows that change other rows' data, and rows that fail or cannot
// run: none of them passes or gets a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../../experiments/harness/prove/edge_proofs.hpp"
#include "../../experiments/harness/time/runner.hpp"
#include "../../experiments/transpose/transpose.hpp"
#include "../../reference/error.hpp"
#include "../expect.hpp"
#include "../targets.hpp"

#ifdef RECHECK_HAVE_CUDA
#include <cuda_runtime.h>
#endif

namespace recheck {
namespace {

/// The defects of transposition's own check.
enum class Defect {
  always_right,
  last_ignored,
  nan_is_no_error,
  zero_is_no_error,
  likely_is_right
};

template <Defect defect>
Oracle spoiled(const Shape& s, std::span<const HostMatrix> inputs, Values) {
  const auto rows = s[1], columns = s[0];
  return [=, in = inputs[0].view()](std::span<const float> out, std::int64_t ld, Arithmetic) {
    double worst = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const float is = out[i * ld + j];
        const double error = std::abs(static_cast<double>(is) - in.row(j)[i]);
        const bool last = i == rows - 1 && j == columns - 1;
        if (defect == Defect::always_right || (defect == Defect::last_ignored && last) ||
            (defect == Defect::zero_is_no_error && is == 0) ||
            (defect == Defect::likely_is_right && is != 0 &&
             (std::abs(is) < 0.5 || is == std::round(is))))
          continue;
        if (defect == Defect::nan_is_no_error)
          worst = error > worst ? error : worst;
        else
          worst = reference::worse(worst, error);
      }
    }
    return Error{worst, 0, "|error|"};
  };
}

Strategy row(std::string_view name) {
  return *std::ranges::find(transpose::ladder(), name, &Strategy::name);
}

/// The output of `--gate` for an experiment, and its exit code.
std::pair<std::string, int> gate_of(const Experiment& experiment) {
  testing::internal::CaptureStdout();
  const int code = run_gate({&experiment, 1}, {});
  return {testing::internal::GetCapturedStdout(), code};
}
std::pair<std::string, int> gate_of(std::span<const Strategy> rows) {
  return gate_of(transpose::experiment(rows));
}

void measure(std::span<Case> cases) {
  std::vector<Case*> group;
  for (Case& c : cases) group.push_back(&c);
  Runner({.budget_seconds = 0.05, .seed = 1}, found_gpu()).run(group);
}

/// Expects that neither `--gate` nor a run trusts a check that accepts such an output.
template <Defect defect>
void expect_refuted(const std::string& accepted) {
  const Strategy serial = row("cpu_serial");
  Experiment experiment = transpose::experiment({&serial, 1});
  experiment.problem.oracle = spoiled<defect>;
  const std::string says =
      "the check of transpose accepts an output " + accepted + ": fix its reference";
  const auto [said, code] = gate_of(experiment);
  EXPECT_EQ(code, 1);
  EXPECT_TRUE(has(said, "WRONG at 1x1, leading dimensions padded by 0: " + says));
  Case c{&experiment, &serial, {40, 24}, Regime::hot};
  measure({&c, 1});
  EXPECT_EQ(c.result.value_or(Result{}).status, Status::failed);
  EXPECT_EQ(c.result.value_or(Result{}).reason, says);
  EXPECT_FALSE(c.seconds);
}

TEST(Soundness, IsTestedBeforeACheckIsTrusted) {
  expect_refuted<Defect::always_right>("whose last element is wrong");
  expect_refuted<Defect::last_ignored>("whose last element is wrong");
  expect_refuted<Defect::nan_is_no_error>("whose first element is not written");
  expect_refuted<Defect::zero_is_no_error>("that is zero");
  expect_refuted<Defect::likely_is_right>("that belongs to other inputs");
}

TEST(GateFlag, FailsARowThatFitsNoShapeOrThrows) {
  Strategy serial = row("cpu_serial");
  EXPECT_EQ(gate_of({&serial, 1}).second, 0);
  serial.fits = [](const Shape&, const Device&) { return Reason("never"); };
  EXPECT_EQ(gate_of({&serial, 1}).second, 1);
  serial = row("cpu_serial");
  serial.launch.run = [](const Call&) { throw std::runtime_error("broken"); };
  const auto [said, code] = gate_of({&serial, 1});
  EXPECT_EQ(code, 1);
  EXPECT_EQ(std::ranges::count(said, '\n'), 4) << said;
  EXPECT_TRUE(has(said, "broken"));
  EXPECT_TRUE(has(said, "WRONG in "));
}

TEST(GateFlag, ReportsRowsThatCannotBeTried) {
  Strategy absent = row("cpu_serial"), elsewhere = absent;
  absent.launch = {Backend::cpu, nullptr, "built without it"};
  elsewhere.needs = [](const Device&) { return Reason("built without it"); };
  for (Strategy untried : {absent, elsewhere}) {
    const auto [said, code] = gate_of({&untried, 1});
    EXPECT_EQ(code, 77);
    EXPECT_TRUE(has(said, "not run: built without it"));
    // the same if every row that can run is right
    Strategy rows[] = {untried, row("cpu_serial")};
    rows[0].name = "absent";
    EXPECT_EQ(gate_of(rows).second, 77);
  }
}

/// A row that is right but then spoils its input, next to a right one.
void is_named(const Strategy& right, void (*spoils)(const Call&)) {
  Strategy rows[] = {right, right};
  rows[0].name = "spoils";
  rows[0].launch.run = spoils;
  const Experiment experiment = transpose::experiment(rows);
  const std::string expected =
      "changed its input 0, counted from 0: it may write only to its output";
  const auto [said, code] = gate_of(rows);
  EXPECT_EQ(code, 1);
  EXPECT_TRUE(has(said, "spoils: WRONG at 1x1, leading dimensions padded by 3: " + expected));
  Case cases[] = {{&experiment, &rows[0], {40, 24}, Regime::hot},
                  {&experiment, &rows[1], {40, 24}, Regime::hot}};
  measure(cases);
  const Result result = cases[0].result.value_or(Result{});
  EXPECT_EQ(result.status, Status::incorrect);
  EXPECT_EQ(result.reason.value_or("").find(expected), 0U) << result.reason.value_or("");
  EXPECT_FALSE(cases[0].seconds);
  EXPECT_TRUE(cases[1].seconds) << "it pays for the one before it";
}

TEST(Inputs, AreReportedAndRestoredIfARowChangesThem) {
  is_named(row("cpu_serial"), [](const Call& call) {
    row("cpu_serial").launch.run(call);
    if (call.shape[0] * call.shape[1] > 0) call.operands[0].data[0] += 1;
  });
}

#ifdef RECHECK_HAVE_CUDA
using gpu_Inputs = OnGpu;
TEST_F(gpu_Inputs, AreReportedAndRestoredIfARowChangesThem) {
  is_named(row("naive"), [](const Call& call) {
    row("naive").launch.run(call);
    if (call.shape[0] * call.shape[1] > 0)
      cudaMemsetAsync(call.operands[0].data, 0, sizeof(float), call.queue.stream);
  });
}
#endif

}  // namespace
}  // namespace recheck
