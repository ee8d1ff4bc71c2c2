// SPDX-License-Identifier: Apache-2.0
//
// The judge of promises: a triple loop passes on every input, and wrong products do not.
#include "trial.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../experiments/peak/peak.hpp"
#include "../../reference/matmul.hpp"

namespace recheck {
namespace {

using peak::Distribution;

const Shape small = {24, 20, 1024};

const Distribution& distribution(std::string_view name) {
  return *std::ranges::find(peak::distributions(), name, &Distribution::name);
}

Strategy row(void (*launch)(const Call&)) {
  return {.name = "row", .source = {"mutant", "tests"}, .launch = {Backend::cpu, launch}};
}

const Strategy serial = row(matmul::cpu<reference::matmul_serial>.run);

Result judge(const Strategy& strategy, std::string_view inputs, const Shape& shape = small) {
  const auto target = make_cpu_target();
  peak::Trial trial(peak::matmul_experiment(), distribution(inputs), shape, 13);
  return trial.run(strategy, *target, {{}, "no GPU asked for", {}, {}});
}

/// matmul_serial, followed by `spoil(c, ldc, m, n)`.
template <auto spoil>
void spoiled(const Call& call) {
  serial.launch.run(call);
  const auto p = matmul::arguments(call);
  spoil(p.c, p.ldc);
}

TEST(Trial, PassesATripleLoopOnEveryInput) {
  for (const auto& each : peak::distributions())
    for (const Shape& shape : {small, Shape{128, 96, 64}, Shape{300, 8, 66}}) {
      const auto outcome = judge(serial, each.name, shape);
      EXPECT_EQ(outcome.status, Status::passed) << each.name << outcome.reason.value_or("");
    }
}

// in "zeros", row 1 of A is zero; in "infinite", row 3 of A and column 5 of B contain infinities
TEST(Trial, FindsElementsThatDifferFromIeee) {
  const auto dirty = row(spoiled<[](float* c, std::int64_t ld) { c[ld] = 1e-30f; }>);
  const auto none = row(spoiled<[](float* c, std::int64_t ld) { c[2 * ld + 3] = NAN; }>);
  const auto quiet = row(spoiled<[](float* c, std::int64_t ld) { c[3 * ld] = NAN; }>);
  const auto flipped = row(spoiled<[](float* c, std::int64_t ld) { c[3 * ld + 1] *= -1; }>);
  const auto finite = row(spoiled<[](float* c, std::int64_t ld) { c[5] = c[ld + 5] = 0; }>);
  const struct {
    const Strategy& row;
    const char *inputs, *says;
  } all[] = {{none, "uniform_half", "element (2, 3) is nan"},
             {none, "zeros", "element (2, 3) is nan"},
             {none, "scaled_rows", "element (2, 3) is nan"},
             {dirty, "zeros", "element (1, 0) is 1e-30, not 0"},
             {dirty, "uniform_half", "element (1, 0)"},
             {quiet, "infinite", "element (3, 0) is nan"},
             {flipped, "infinite", "element (3, 1)"},
             {finite, "infinite", "element ("},
             {finite, "nan", "element ("}};
  for (const auto& [row, inputs, says] : all) {
    const auto outcome = judge(row, inputs);
    EXPECT_EQ(outcome.status, Status::incorrect) << inputs;
    EXPECT_TRUE(outcome.reason.value_or("").starts_with(says)) << *outcome.reason;
  }
}

/// Treats denormal inputs as zero, like a kernel built with -ftz=true.
void flushes(int m, int n, int k, const float* a, std::int64_t lda, const float* b,
             std::int64_t ldb, float* c, std::int64_t ldc) {
  const auto normal = [](float x) { return std::abs(x) < 0x1p-126f ? 0 : x; };
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int e = 0; e < k; ++e) sum += normal(normal(a[i * lda + e]) * normal(b[e * ldb + j]));
      c[i * ldc + j] = sum;
    }
}

TEST(Trial, FindsDenormalsThatWereFlushed) {
  const auto wrong = row(matmul::cpu<flushes>.run);
  EXPECT_EQ(judge(wrong, "uniform_half").status, Status::passed);
  EXPECT_EQ(judge(wrong, "denormal_inputs").status, Status::incorrect);
  EXPECT_EQ(judge(wrong, "denormal_results").status, Status::incorrect);
}

TEST(Trial, JudgesRowsThroughoutALargeProduct) {
  const auto last = row(spoiled<[](float* c, std::int64_t ld) { c[511 * ld] = NAN; }>);
  // the last judged row of 512 is 508 + 127 % 4
  EXPECT_EQ(judge(last, "uniform_half", {512, 4, 8}).status, Status::incorrect);
}

}  // namespace
}  // namespace recheck
