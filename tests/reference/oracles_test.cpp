// SPDX-License-Identifier: Apache-2.0
//
// The references that judge outputs: each finds any wrong element.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "../../experiments/harness/prove/inputs.hpp"
#include "../../reference/error.hpp"
#include "../../reference/listings.hpp"
#include "../../reference/matmul.hpp"
#include "../../reference/matvec.hpp"
#include "../../reference/transpose.hpp"

namespace recheck {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Spoils each element of a right output of integers in turn.
void expect_every_element_matters(std::vector<float> output, const auto& error) {
  EXPECT_EQ(error(output), 0);
  for (float& element : output) {
    const float right = element;
    element = nan;
    EXPECT_TRUE(std::isnan(error(output)));
    element = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(error(output) <= 1);
    element = right + 1;
    EXPECT_GT(error(output), 0);
    element = right;
  }
}

struct Product {
  HostMatrix a, b;
  std::vector<float> c;
  reference::MatmulOracle oracle;
  std::int64_t m, n;
  [[nodiscard]] double error() const { return error(c); }
  [[nodiscard]] double error(const std::vector<float>& c) const {
    return oracle.relative_error({m, n, c.data(), n});
  }
};

Product product(int m, int n, int k, Values values) {
  auto a = make_input(7, 0, m, k, k + 1, values, integer_limit(k));
  auto b = make_input(7, 1, k, n, n + 2, values, integer_limit(k));
  std::vector<float> c(static_cast<std::size_t>(m) * n);
  reference::matmul_serial(m, n, k, a.elements.data(), a.ld, b.elements.data(), b.ld, c.data(), n);
  reference::MatmulOracle oracle(a.view(), b.view(), 11);
  return {std::move(a), std::move(b), std::move(c), std::move(oracle), m, n};
}

TEST(MatmulOracle, FindsRealsWithinTheirBoundButNotExact) {
  const double error = product(37, 53, 71, Values::reals).error();
  EXPECT_GT(error, 0);
  EXPECT_LE(error, reference::product_error_bound(71, 0x1p-24, 0));
}

TEST(MatmulOracle, DetectsAnySingleWrongElement) {
  const auto p = product(9, 8, 7, Values::integers);
  expect_every_element_matters(p.c, [&](const auto& c) { return p.error(c); });
}

// too large to check each element: Freivalds' check must detect it
TEST(MatmulOracle, DetectsOneWrongElementInALargeProduct) {
  const int m = 4200, n = 4000, k = 4;
  ASSERT_GT(std::int64_t{m} * n, reference::MatmulOracle::most_elements);
  auto p = product(m, n, k, Values::integers);
  EXPECT_EQ(p.error(), 0);
  for (const std::size_t at : {std::size_t{0}, std::size_t{1} * 777 * n + 333, p.c.size() - 1}) {
    p.c[at] += 1;
    EXPECT_GT(p.error(), 0) << at;
    p.c[at] -= 1;
  }
  p.c[std::size_t{1234} * n + 5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(p.error()));
}

/// A matrix, with rows unaligned by an odd leading dimension, and a vector; NaN around both.
struct Factors {
  HostMatrix a, v;
  Factors(int rows, int columns, Values values)
      : a(make_input(7, 0, rows, columns, (columns + 2) | 1, values, integer_limit(columns))),
        v(make_input(7, 1, 1, columns, columns + 1, values, integer_limit(columns))) {}
  [[nodiscard]] std::vector<float> product() const {
    std::vector<float> r(a.rows, nan);
    reference::matvec_serial(static_cast<int>(a.rows), static_cast<int>(a.columns),
                             a.elements.data(), a.ld, v.elements.data(), r.data());
    return r;
  }
  [[nodiscard]] double error(const std::vector<float>& r) const {
    return reference::MatvecOracle(a.view(), v.elements).relative_error(r.data());
  }
};

TEST(MatvecListings, AddInTheSameOrderWithAnyFlags) {
  constexpr int rows = 37, columns = 1001;
  HostMatrix a = make_input(7, 0, rows, columns, columns, Values::reals, 0);
  HostMatrix v = make_input(7, 1, 1, columns, columns, Values::reals, 0);
  // products of two 12-bit factors are exact in fp32, so fusing them into a sum changes nothing:
  // only the order can differ
  for (auto* operand : {&a, &v})
    for (auto& x : operand->elements)
      x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xfffff000u);
  std::vector<float> r(rows), r_o0(rows), general(rows);
  reference::s3_mxv(rows, columns, a.elements.data(), v.elements.data(), r.data());
  reference::s3_mxv_o0(rows, columns, a.elements.data(), v.elements.data(), r_o0.data());
  reference::matvec_serial(rows, columns, a.elements.data(), columns, v.elements.data(),
                           general.data());
  EXPECT_EQ(r, r_o0);
  EXPECT_EQ(r, general);
}

TEST(MatvecOracle, DetectsAnySingleWrongElement) {
  const Factors factors(9, 8, Values::integers);
  expect_every_element_matters(factors.product(), [&](const auto& r) { return factors.error(r); });
}

TEST(MatvecOracle, AcceptsOnlyZeroForAnEmptySum) {
  const Factors factors(3, 0, Values::reals);
  EXPECT_EQ(factors.error({0, 0, 0}), 0);
  EXPECT_FALSE(factors.error({0, 1e-30f, 0}) <= 1);
}

/// A ragged matrix of more than one tile each way, and the number of its elements that differ from
/// the original.
struct Compared {
  HostMatrix truth = make_input(7, 0, 33, 65, 68, Values::reals, 0), matrix = truth;
  [[nodiscard]] std::int64_t differences() const {
    return reference::count_differences(
        matrix.view(), [this](std::int64_t i, std::int64_t j) { return truth.view().row(i)[j]; });
  }
};

TEST(CountDifferences, CountsEachWrongElementOnce) {
  Compared compared;
  std::int64_t wrong = 0;
  for (const auto& [i, j] : {std::pair{0, 0}, {0, 64}, {31, 31}, {32, 32}, {32, 64}}) {
    float& element = compared.matrix.elements[i * compared.matrix.ld + j];
    element = wrong % 2 == 0 ? nan : element + 0x1p-24f;
    EXPECT_EQ(compared.differences(), ++wrong);
  }
}

TEST(CountDifferences, ComparesBits) {
  const float zero[] = {0.0f, -0.0f, nan};
  const auto is = [&](float expected) {
    return reference::count_differences({1, 3, zero, 3},
                                        [=](std::int64_t, std::int64_t) { return expected; });
  };
  EXPECT_EQ(is(0.0f), 2);
  EXPECT_EQ(is(-0.0f), 2);
  EXPECT_EQ(is(nan), 2) << "the expected NaN counted as a difference";
}

TEST(CountDifferences, IgnoresWhatIsOutside) {
  Compared compared;
  for (std::int64_t i = 0; i < 33; ++i) compared.matrix.elements[i * 68 + 65] = 1;
  EXPECT_EQ(compared.differences(), 0);
  const auto anything = [](std::int64_t, std::int64_t) { return 1.0f; };
  EXPECT_EQ(reference::count_differences({0, 5, nullptr, 5}, anything), 0);
  EXPECT_EQ(reference::count_differences({5, 0, nullptr, 1}, anything), 0);
}

}  // namespace
}  // namespace recheck
