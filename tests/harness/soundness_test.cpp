// SPDX-License-Identifier: Apache-2.0
//
// Checks that accept wrong outputs, and rows that change other rows' data: none of them passes or
// gets a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../../experiments/harness/prove/edge_proofs.hpp"
#include "../../experiments/harness/time/runner.hpp"
#include "../../experiments/transpose/transpose.hpp"
#include "../../reference/error.hpp"
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

template <Defect defect>
Experiment spoiled_experiment(const Strategy& row) {
  Experiment experiment = transpose::experiment({&row, 1});
  experiment.problem.oracle = spoiled<defect>;
  return experiment;
}

/// The output of `--gate` for an experiment, and its exit code.
std::pair<std::string, int> gate_of(const Experiment& experiment) {
  testing::internal::CaptureStdout();
  const int code = run_gate({&experiment, 1}, {});
  return {testing::internal::GetCapturedStdout(), code};
}

void measure(std::span<Case> cases) {
  std::vector<Case*> group;
  for (Case& c : cases) group.push_back(&c);
  Runner({.budget_seconds = 0.05, .seed = 1}, found_gpu()).run(group);
}

std::string refutation(const std::string& accepted) {
  return "the check of transpose accepts an output " + accepted + ": fix its reference";
}

template <Defect defect>
void is_refuted_by_the_gate(const Strategy& row, const std::string& accepted) {
  const auto [said, code] = gate_of(spoiled_experiment<defect>(row));
  EXPECT_EQ(code, 1);
  const auto line = "WRONG at 1x1, leading dimensions padded by 0: " + refutation(accepted);
  EXPECT_NE(said.find(line), std::string::npos) << said;
}

template <Defect defect>
void is_refuted_by_a_run(const Strategy& row, const std::string& accepted) {
  const Experiment experiment = spoiled_experiment<defect>(row);
  Case c{&experiment, &row, {40, 24}, Regime::hot};
  measure({&c, 1});
  EXPECT_EQ(c.result.value_or(Result{}).status, Status::failed);
  EXPECT_EQ(c.result.value_or(Result{}).reason, refutation(accepted));
  EXPECT_FALSE(c.seconds);
}

// each gate runs in its own process, which has to find the defect itself
TEST(Soundness, IsTestedByTheGateBeforeACheckIsTrusted) {
  const auto serial = row("cpu_serial");
  is_refuted_by_the_gate<Defect::always_right>(serial, "whose last element is wrong");
  is_refuted_by_the_gate<Defect::last_ignored>(serial, "whose last element is wrong");
  is_refuted_by_the_gate<Defect::nan_is_no_error>(serial, "whose first element is not written");
  is_refuted_by_the_gate<Defect::zero_is_no_error>(serial, "that is zero");
  is_refuted_by_the_gate<Defect::likely_is_right>(serial, "that belongs to other inputs");
}

TEST(Soundness, IsTestedByARunBeforeACheckIsTrusted) {
  const auto serial = row("cpu_serial");
  is_refuted_by_a_run<Defect::always_right>(serial, "whose last element is wrong");
  is_refuted_by_a_run<Defect::zero_is_no_error>(serial, "that is zero");
}

/// A row that is right but then spoils its input, next to a right one.
void is_named(const Strategy& right, void (*spoils)(const Call&)) {
  Strategy rows[] = {right, right};
  rows[0].name = "spoils";
  rows[0].launch.run = spoils;
  const Experiment experiment = transpose::experiment(rows);
  const std::string expected =
      "changed its input 0, counted from 0: it may write only to its output";
  const auto [said, code] = gate_of(experiment);
  EXPECT_EQ(code, 1);
  EXPECT_NE(said.find("spoils: WRONG at 1x1, leading dimensions padded by 3: " + expected),
            std::string::npos)
      << said;
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
TEST(gpu_Inputs, AreReportedAndRestoredIfARowChangesThem) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  is_named(row("naive"), [](const Call& call) {
    row("naive").launch.run(call);
    if (call.shape[0] * call.shape[1] > 0)
      cudaMemsetAsync(call.operands[0].data, 0, sizeof(float), call.queue.stream);
  });
}
#endif

}  // namespace
}  // namespace recheck
