// SPDX-License-Identifier: Apache-2.0
#include "../../reference/matmul.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../../experiments/harness/prove/inputs.hpp"
#include "../../reference/error.hpp"

namespace recheck {
namespace {

struct Product {
  HostMatrix a, b;
  std::vector<float> c;
  reference::MatmulOracle oracle;
  std::int64_t m, n;
  [[nodiscard]] double error() const { return oracle.relative_error({m, n, c.data(), n}); }
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

TEST(MatmulOracle, ReportsNaNAnywhere) {
  auto p = product(9, 8, 7, Values::reals);
  for (auto& element : p.c) {
    const float kept = element;
    element = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(p.error()));
    element = kept;
  }
}

TEST(MatmulOracle, RejectsInfinity) {
  auto p = product(9, 8, 7, Values::reals);
  p.c[5] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(p.error() <= 1);
}

TEST(MatmulOracle, DetectsAnySingleWrongElement) {
  auto p = product(9, 8, 7, Values::integers);
  for (auto& element : p.c) {
    element += 1;
    EXPECT_GT(p.error(), 0);
    element -= 1;
  }
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

}  // namespace
}  // namespace recheck
