// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/prove/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

namespace recheck {
namespace {

TEST(Inputs, OfI32SumWithoutOverflow) {
  for (const std::int64_t terms : {1, 77, 1 << 22, 1 << 26}) {
    for (const auto values : {Values::integers, Values::reals}) {
      const auto limit = limit_of(Element::i32, terms, values);
      EXPECT_LE(limit * terms, std::numeric_limits<std::int32_t>::max());
      if (terms == 1 << 22) {
        EXPECT_EQ(limit, values == Values::integers ? 64 : 511);
      }
    }
  }
}

TEST(Inputs, DifferBySeedAndOperand) {
  const auto one = make_input(1, 0, 13, 17, 17, Values::reals, 1);
  for (const auto& other : {make_input(1, 1, 13, 17, 17, Values::reals, 1),
                            make_input(2, 0, 13, 17, 17, Values::reals, 1)})
    for (int at = 0; at < 13 * 17; ++at) EXPECT_NE(one.elements[at], other.elements[at]);
}

TEST(Inputs, AreNeverZeroAndStayInTheirRange) {
  const auto reals = make_input(5, 0, 200, 200, 200, Values::reals, 1);
  const auto integers = make_input(5, 0, 200, 200, 200, Values::integers, 9);
  std::set<float> seen;
  for (int at = 0; at < 200 * 200; ++at) {
    EXPECT_NE(reals.elements[at], 0);
    EXPECT_LT(std::abs(reals.elements[at]), 0.5f);
    const float integer = integers.elements[at];
    EXPECT_EQ(integer, std::round(integer));
    EXPECT_NE(integer, 0);
    EXPECT_LE(std::abs(integer), 9);
    seen.insert(integer);
  }
  EXPECT_EQ(seen.size(), 18u);  // every value of the range occurs
}

TEST(Inputs, WithAWideOneInEachRowAndColumnSumExactly) {
  for (const std::int64_t terms : {1, 2, 77, 2048, 8192, 1 << 22}) {
    const std::int64_t limit = limit_with_wide_factor(terms);
    EXPECT_GE(limit, 1);
    // both wide factors in one product, or in two
    EXPECT_LE((terms - 1) * limit * limit + wide * wide, 1 << 24) << terms;
    EXPECT_LE(terms * limit * limit + 2 * wide * limit, 1 << 24) << terms;
  }
  EXPECT_EQ(limit_with_wide_factor((1 << 22) + 1), 0);
  const auto matrix = make_input(1, 0, 50, 50, 50, Values::integers, 9, Element::fp32, 50);
  for (int i = 0; i < 50; ++i) {
    int in_row = 0, in_column = 0;
    for (int j = 0; j < 50; ++j) {
      const auto is_wide = [&](float x) {
        if (std::abs(x) <= 9) return 0;
        EXPECT_EQ(std::abs(static_cast<int>(x)) % 2, 1);
        EXPECT_TRUE(std::abs(x) > 2048 && std::abs(x) <= wide) << x;
        return 1;
      };
      in_row += is_wide(matrix.elements[i * 50 + j]);
      in_column += is_wide(matrix.elements[j * 50 + i]);
    }
    EXPECT_EQ(in_row, 1);
    EXPECT_EQ(in_column, 1);
  }
}

TEST(Layouts, StartLinesWhereCudaMallocPitchDoes) {
  EXPECT_EQ(leading_dimension(5, 7, Layout::row_major, 0), 7);
  EXPECT_EQ(leading_dimension(5, 0, Layout::row_major, 0), 1);
  EXPECT_EQ(leading_dimension(5, 128, Layout::pitched, 0), 128);
  EXPECT_EQ(leading_dimension(5, 129, Layout::pitched, 0), 256);
  EXPECT_EQ(leading_dimension(5, 128, Layout::pitched, 1), 256);
  EXPECT_EQ(leading_dimension(128, 7, Layout::column_major, 0), 128);
  EXPECT_EQ(leading_dimension(129, 7, Layout::column_major, 0), 256);
  EXPECT_EQ(leading_dimension(0, 7, Layout::column_major, 0), 128);
}

TEST(IntegerLimit, KeepsEverySumExact) {
  for (const std::int64_t terms : {1, 2, 100, 4096, 8192, 65536, 1 << 24}) {
    const std::int64_t limit = integer_limit(terms);
    EXPECT_GE(limit, 1);
    EXPECT_LE(limit * limit * terms, 1 << 24) << terms;
  }
  EXPECT_GT(integer_limit(8192), 30);  // and not needlessly small
}

}  // namespace
}  // namespace recheck
