// SPDX-License-Identifier: Apache-2.0
#include "../../reference/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace recheck {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(ProductErrorBound, GrowsWithTheSumAndWithTheInputs) {
  using reference::product_error_bound;
  EXPECT_EQ(product_error_bound(0, 0x1p-24, 0), 0);
  EXPECT_NEAR(product_error_bound(1, 0x1p-24, 0), 0x1p-24, 1e-13);
  EXPECT_LT(product_error_bound(100, 0x1p-24, 0), product_error_bound(101, 0x1p-24, 0));
  EXPECT_GT(product_error_bound(100, 0x1p-24, 0x1p-10), 2 * 0x1p-10);
  // where the theory ends nothing may pass
  EXPECT_EQ(product_error_bound(1 << 25, 0x1p-24, 0), 0);
}

TEST(Worse, KeepsNaNOnEitherSide) {
  using reference::worse;
  EXPECT_EQ(worse(1, 2), 2);
  EXPECT_EQ(worse(2, 1), 2);
  EXPECT_TRUE(std::isnan(worse(nan, 1)));
  EXPECT_TRUE(std::isnan(worse(1, nan)));
}

TEST(WorstOf, KeepsNaNWhereverOneStands) {
  using reference::worst_of;
  EXPECT_EQ(worst_of({}), 0);
  EXPECT_EQ(worst_of({1, 3, 2}), 3);
  EXPECT_TRUE(std::isnan(worst_of({nan, 1, 2})));
  EXPECT_TRUE(std::isnan(worst_of({1, nan, 2})));
  EXPECT_TRUE(std::isnan(worst_of({1, 2, nan})));
}

TEST(Relative, IsExactOnlyWithoutAnError) {
  using reference::relative;
  EXPECT_EQ(relative(0, 0), 0);
  EXPECT_EQ(relative(-1, 4), 0.25);
  EXPECT_TRUE(std::isinf(relative(1, 0)));
  EXPECT_TRUE(std::isnan(relative(nan, 1)));
}

}  // namespace
}  // namespace recheck
