// SPDX-License-Identifier: Apache-2.0
#include "../../reference/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace recheck {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(ProductErrorBound, GrowsWithTheSumAndWithTheInputs) {
  using reference::product_error_bound;
  EXPECT_EQ(product_error_bound(0, 0x1p-24, 0), 0);
  EXPECT_NEAR(product_error_bound(1, 0x1p-24, 0), 0x1p-24, 1e-13);
  EXPECT_LT(product_error_bound(100, 0x1p-24, 0), product_error_bound(101, 0x1p-24, 0));
  EXPECT_GT(product_error_bound(100, 0x1p-24, 0x1p-10), 2 * 0x1p-10);
  // beyond the theory's range nothing may pass
  EXPECT_EQ(product_error_bound(1 << 25, 0x1p-24, 0), 0);
}

/// The largest error of plain fp32 sums of `terms` products of numbers from [0, 1), as in S1.
double largest_error(int terms) {
  std::mt19937 random(13);
  std::uniform_real_distribution<float> uniform(0, 1);
  double largest = 0;
  for (int sums = 0; sums < 200; ++sums) {
    float sum = 0;
    double truth = 0;
    for (int k = 0; k < terms; ++k) {
      const float a = uniform(random), b = uniform(random);
      sum += a * b;
      truth += static_cast<double>(a) * b;
    }
    largest = std::max(largest, std::abs(sum - truth));
  }
  return largest;
}

// S1 accepts a product if all elements are within 1e-3 (C21): too loose for some sums and too tight
// for others, so the gate's bound grows with the sum
TEST(DocumentsTolerance, AcceptsRightSumsOf80Products) { EXPECT_LE(largest_error(80), 1e-3); }
TEST(DocumentsTolerance, RefusesARightSumOf8192Products) { EXPECT_GT(largest_error(8192), 1e-3); }
// S1 refuses if |a - b| > 1e-3, but no comparison with NaN is ever true (E37)
TEST(DocumentsTolerance, AcceptsNaN) {
  EXPECT_FALSE(std::abs(nan - 1) > 1e-3);
  EXPECT_TRUE(!(std::abs(nan - 1) <= 1e-3));
}

}  // namespace
}  // namespace recheck
