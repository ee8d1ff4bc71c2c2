// SPDX-License-Identifier: Apache-2.0
//
// Rows that read what they write, and outputs whose length depends on the data: on every path that
// judges outputs, right ones pass and wrong ones do not.
#include "outside/in_place/in_place.hpp"

#include <gtest/gtest.h>

#include <string>

#include "../experiments/harness/prove/edge_proofs.hpp"
#include "../experiments/harness/time/runner.hpp"
#include "expect.hpp"
#include "targets.hpp"

namespace recheck {
namespace {

namespace in = ::in_place;

/// The failures of an experiment's rows on a backend, one per line.
std::string held_against(const Experiment& experiment, Backend backend = Backend::cpu) {
  std::string all;
  EdgeGates gates;
  for (const Strategy& row : experiment.ladder) {
    if (row.launch.backend != backend) continue;
    for (const auto& line : prove_edges(experiment, row, targets(), gates).wrong)
      all += line + '\n';
    for (const auto& kind : regimes) {
      // processes are of another program, and these rows cannot repeat their work
      if (kind.timing == Timing::processes || kind.repeats > 1) continue;
      Case c{&experiment, &row, experiment.headline, kind.regime};
      Case* const group[] = {&c};
      Runner({.budget_seconds = 0.05, .seed = 1}, found_gpu()).run(group);
      EXPECT_EQ(c.seconds.has_value(), c.result->passed());
      if (!c.result->passed()) all += c.id() + ": " + c.result->reason.value_or("") + '\n';
    }
  }
  return all;
}

TEST(InPlace, PassesOnEveryPath) {
  EXPECT_EQ(held_against(in::filter_experiment()), "");
  EXPECT_EQ(held_against(in::sparse_experiment()), "");
}

TEST(InPlace, NamesInputsThatIgnoreTheSeedOrChangeTheirSize) {
  Experiment experiment = in::filter_experiment();
  experiment.name = "constant";
  experiment.headline = {1000};
  experiment.fill = [](std::uint64_t, const Shape&, std::span<HostMatrix> inputs) {
    std::ranges::fill(inputs[0].row<float>(0), 1.0F);
  };
  testing::internal::CaptureStderr();
  EXPECT_EQ(held_against(experiment), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr().find("\nconstant: all seeds give the same"), 0U);
  experiment.fill = [](std::uint64_t, const Shape&, std::span<HostMatrix> in) { in[0].ld = 1; };
  EXPECT_TRUE(
      has(held_against(experiment), "/hot: the experiment's `fill` failed: it may overwrite"));
}

/// Expects these results of `--gate --cases`, in a process that has proven no smaller shape.
void expect_shown(const std::string& filter, const std::string& sparse) {
  const Experiment experiments[] = {in::filter_experiment(), in::sparse_experiment()};
  testing::internal::CaptureStdout();
  const int code = run_gate(experiments, {.cases = {"filter/" + filter, "sparse/" + sparse}});
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0) << said;
}

TEST(InPlace, PassesUnderAProfiler) {
  expect_shown("cpu_serial/100000/hot", "cpu_serial/10000/hot");
}

#ifdef RECHECK_HAVE_CUDA
using gpu_InPlace = OnGpu;
TEST_F(gpu_InPlace, PassesOnEveryPath) {
  EXPECT_EQ(held_against(in::filter_experiment(), Backend::gpu), "");
  EXPECT_EQ(held_against(in::sparse_experiment(), Backend::gpu), "");
}

TEST_F(gpu_InPlace, PassesUnderAProfiler) {
  expect_shown("atomic/100000/cold", "scalar/10000/cold");
}
#endif

enum class Defect { one_more, one_less, too_long, not_counted, last_value };
template <Defect defect>
void filter(const Call& call) {
  in::filter_experiment().ladder[0].launch.run(call);
  const auto [from, count, kept, out] = in::filter_arguments(call);
  if (defect == Defect::one_more && std::cmp_less(*kept, count)) out[(*kept)++] = 0.25F;
  if (defect == Defect::one_less && *kept > 0) --*kept;
  if (defect == Defect::too_long) *kept = static_cast<unsigned>(count) + 1;
  if (defect == Defect::not_counted) *kept = ~0U;
  if (defect == Defect::last_value && *kept > 0) out[*kept - 1] *= 2;
}
template <Defect defect>
std::string of_filter() {
  const Strategy row = {
      .name = "row", .source = ours("x"), .launch = {Backend::cpu, filter<defect>}};
  return held_against(in::filter_experiment({&row, 1}));
}

/// Right only the first time: the second launch starts from the first one's output.
void adds_twice(const Call& call) {
  const auto run = in::sparse_experiment().ladder[0].launch.run;
  run(call);
  run(call);
}
void does_nothing(const Call&) {}

TEST(InPlace, IsCaughtOnEveryPathIfWrong) {
  const auto caught = [](const std::string& held, const std::string& words) {
    EXPECT_TRUE(has(held, words));
    EXPECT_TRUE(has(held, "/cold: "));
    EXPECT_TRUE(has(held, "/end_to_end: "));
  };
  caught(of_filter<Defect::one_more>(), "elements that differ");
  caught(of_filter<Defect::one_less>(), "elements that differ");
  caught(of_filter<Defect::too_long>(), "output 1 is 34, and output 2 has room for 33");
  caught(of_filter<Defect::not_counted>(), "output 1 is 4.29e+09, and output 2");
  caught(of_filter<Defect::last_value>(), "elements that differ");
  for (auto* run : {adds_twice, does_nothing}) {
    const Strategy row = {.name = "row", .source = ours("x"), .launch = {Backend::cpu, run}};
    caught(held_against(in::sparse_experiment({&row, 1})), "max |error| / bound");
  }
}

}  // namespace
}  // namespace recheck
