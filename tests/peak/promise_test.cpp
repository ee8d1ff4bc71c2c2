// SPDX-License-Identifier: Apache-2.0
//
// The error bounds that split products promise: they match the header and, on a GPU, hold on the
// worst inputs that we know.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../experiments/peak/matmul/promises.hpp"
#include "../../experiments/peak/peak.hpp"
#include "../targets.hpp"
#include "trial.hpp"

namespace recheck {
namespace {

using peak::Distribution;
namespace k = kernels::matmul;

peak::Trial trial(const Distribution& inputs, const Shape& shape) {
  return {peak::matmul_experiment(), inputs, shape, 13};
}

const Strategy& row(std::span<const Strategy> rows, std::string_view name) {
  return *std::ranges::find(rows, name, &Strategy::name);
}

/// The inputs of one product, as a distribution.
std::vector<HostMatrix> given;
const Distribution as_given = {"given", [](const Shape&, std::uint64_t) { return given; }};

HostMatrix matrix(std::int64_t rows, std::int64_t columns, auto element) {
  HostMatrix made{rows, columns, columns, Floats(storage(rows, columns), NAN)};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      made.elements[i * columns + j] = static_cast<float>(element(i, j));
  return made;
}

TEST(Promise, MatchesTheHeader) {
  const struct {
    k::SplitSums sums;
    int interval, ieee_from;
    double part;  // of gamma_k at 100000 terms
  } said[] = {
      {k::fp16x3_sums, 64, 55, 56}, {k::bf16x6_sums, 64, 147, 58}, {k::tf32x3_sums, 32, 34, 31}};
  for (const auto& each : said) {
    const auto own = [&](std::int64_t terms) {
      return k::split_bound(each.sums, each.interval, terms);
    };
    for (std::int64_t terms = each.ieee_from; terms < 100'000; ++terms)
      ASSERT_LE(own(terms), k::ieee_bound(terms)) << terms;
    for (std::int64_t terms = k::split_least_k; terms < each.ieee_from; ++terms)
      ASSERT_LE(own(terms), k::ieee_bound(each.ieee_from)) << terms;
    EXPECT_GT(own(each.ieee_from - 1), k::ieee_bound(each.ieee_from - 1));
    EXPECT_LT(own(100'000) * each.part, k::ieee_bound(100'000));
    EXPECT_EQ(own(31), k::ieee_bound(31));
    EXPECT_EQ(k::split_promise(each.sums, each.interval, 100'000), k::ieee_bound(100'000));
  }
}

// IEEE's sum of 2^25 ones is 2^24, half of the truth. Where gamma_k ends, fp32 itself exceeds
// split_bound(), and the guard may leave the product to fp32
TEST(Promise, EndsWhereIeeesErrorExceedsIt) {
  constexpr std::int64_t end = 1 << 24;
  float sum = 0;
  for (std::int64_t terms = 0; terms < 2 * end; ++terms) sum += 1;
  EXPECT_EQ(sum, end);
  for (const auto* sums : {&k::fp16x3_sums, &k::bf16x6_sums, &k::tf32x3_sums})
    for (const int interval : {0, 32, 64}) {
      EXPECT_EQ(k::split_promise(*sums, interval, end - 1), k::ieee_bound(end - 1));
      for (const std::int64_t terms : {end, 2 * end, (std::int64_t{1} << 31) - 1})
        EXPECT_EQ(k::split_promise(*sums, interval, terms), k::no_bound) << terms;
    }
  EXPECT_LT(k::split_bound(k::fp16x3_sums, 64, 2 * end), 0.5);
  EXPECT_EQ(k::split_bound(k::fp16x3_sums, 32, (std::int64_t{1} << 31) - 1), k::no_bound);
}

TEST(Promise, OfStrassenMatchesTheHeader) {
  const auto bound = [](int levels, std::int64_t terms) {
    return k::strassen_bound(k::fp16x3_sums, 64, levels, terms);
  };
  for (std::int64_t terms = 1024; terms <= 1 << 20; terms *= 2) {
    EXPECT_LE(bound(1, terms), k::ieee_bound(terms)) << terms;
    EXPECT_EQ(bound(2, terms) <= k::ieee_bound(terms), terms >= 32768) << terms;
  }
  // each level costs a factor of nine, plus the sums of blocks and of products
  EXPECT_GT(bound(1, 8192), 9 * k::split_bound(k::fp16x3_sums, 64, 4096));
  EXPECT_LT(bound(1, 8192), 18 * k::split_bound(k::fp16x3_sums, 64, 4096));
}

/// A product in the order of IEEE's kernel.
std::vector<float> in_order(const HostMatrix& a, const HostMatrix& b) {
  std::vector<float> c(a.rows * b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < b.columns; ++j)
      for (std::int64_t e = 0; e < a.columns; ++e)
        c[i * b.columns + j] =
            std::fma(a.view().row(i)[e], b.view().row(e)[j], c[i * b.columns + j]);
  return c;
}

/// A row's product of `given`.
std::vector<float> product(const Strategy& strategy) {
  const auto &a = given[0], &b = given[1];
  const Shape shape = {a.rows, b.columns, a.columns};
  return trial(as_given, shape).product(strategy, targets().of(strategy.launch.backend));
}

/// Whether a row's guard leaves `given` to IEEE fp32.
bool falls_back(const Strategy& strategy) {
  return product(strategy) == in_order(given[0], given[1]);
}

// both sides of each edge: up to it the planes hold the inputs; beyond it IEEE takes over
void expect_edges(std::span<const Strategy> rows) {
  const auto& fp16 = row(rows, "split_fp16x3");
  const auto random = [](auto i, auto j) { return 1 + ((i * 37 + j * 101) % 997) / 1024.0; };
  const auto with = [&](int count, double x) {  // this many of A's elements are x
    given = {matrix(3, 256, [&](auto i, auto e) { return i == 1 && e < count ? x : random(i, e); }),
             matrix(256, 5, random)};
    return peak::fp16_holds(given);
  };
  EXPECT_TRUE(with(256, 1));
  EXPECT_FALSE(falls_back(fp16));
  EXPECT_TRUE(with(200, 0x1p-28));
  EXPECT_FALSE(falls_back(fp16));
  EXPECT_FALSE(with(65, 0x1.fffffep-29));
  EXPECT_TRUE(falls_back(fp16));
  EXPECT_FALSE(with(64, 0x1.fffffep-29));  // few enough to be harmless among the others
  EXPECT_FALSE(falls_back(fp16));
  // an element's smallness is judged before rounding: 23 of these would round up to 16
  given = {matrix(1, 32,
                  [](auto, auto e) {
                    return e == 0 ? 1 : e == 1 ? 0x1.5p-30 : e < 25 ? 0x1.fffp-11 : 0x1.5p-2;
                  }),
           matrix(32, 1, [](auto e, auto) { return e == 31 ? 0x1p-20 : 1; })};
  EXPECT_TRUE(falls_back(fp16));
  for (const auto& [exponent, inside] :
       {std::pair(60, true), {61, false}, {-60, true}, {-61, false}}) {
    given = {matrix(3, 64, [&](auto i, auto e) { return std::ldexp(random(i, e), exponent); }),
             matrix(64, 5, random)};
    EXPECT_EQ(peak::fp16_holds(given), inside) << exponent;
    EXPECT_EQ(falls_back(fp16), !inside) << exponent;
  }
  // inputs that Strassen's guard refuses go to split_fp16x3 if that accepts them
  const auto& strassen = row(rows, "split_strassen_level1");
  for (const auto& [x, ieee] : {std::pair(0x1p-6, false), {0x1p61, true}}) {
    given = {matrix(3, 600, [&](auto i, auto e) { return i == 1 && e < 226 ? x : random(i, e); }),
             matrix(600, 5, random)};
    EXPECT_EQ(product(strassen), product(fp16)) << x;
    EXPECT_EQ(falls_back(strassen), ieee) << x;
  }
  given[0] =
      matrix(3, 600, [&](auto i, auto e) { return i == 1 && e < 225 ? 0x1p-6 : random(i, e); });
  EXPECT_NE(product(strassen), product(fp16));
  for (const auto* name : {"split_bf16x6", "split_tf32x3"}) {
    for (const auto& [x, inside] : {std::pair(0x1p-56, true),
                                    {0x1.fffffep-57, false},
                                    {0x1.fffffep55, true},
                                    {0x1p56, false}}) {
      given = {matrix(3, 64, [&](auto i, auto e) { return i + e ? random(i, e) : x; }),
               matrix(64, 5, random)};
      EXPECT_EQ(peak::bf16_holds(given), inside) << x;
      EXPECT_EQ(falls_back(row(rows, name)), !inside) << name << x;
    }
  }
}

// the rows themselves, on a GPU

/// Why the split products' rows do not run here.
Reason absent() {
  const auto refused =
      refuse(row(peak::matmul_experiment().ladder, "split_fp16x3"), {64, 64, 64}, found_gpu());
  return refused ? Reason(refused->reason) : Reason{};
}

TEST(gpu_Promise, IsKeptOnEveryInput) {
  if (const auto why = absent()) GTEST_SKIP() << *why;
  for (const auto& inputs : peak::distributions()) {
    for (const std::int64_t terms : {20, 32, 64, 98, 1000, 1100, 20'000}) {
      auto each = trial(inputs, {130, 70, terms});
      for (const auto& strategy : peak::matmul_experiment().ladder) {
        if (strategy.promise == nullptr) continue;
        const auto result = each.run(strategy, targets().of(strategy.launch.backend), found_gpu());
        EXPECT_EQ(result.reason.value_or(""), "")
            << strategy.name << " on " << inputs.name << ", k = " << terms;
      }
    }
  }
}

TEST(gpu_Promise, EndsWhereTheGuardIsRaised) {
  if (const auto why = absent()) GTEST_SKIP() << *why;
  expect_edges(peak::matmul_experiment().ladder);
}

}  // namespace
}  // namespace recheck
