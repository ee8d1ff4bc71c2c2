// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/base/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace recheck {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> samples(n);
  std::iota(samples.begin(), samples.end(), 1);
  return samples;
}

TEST(MedianInterval, IsStudentsOfThreeToFiveSamplesAndTheRangeOfSix) {
  EXPECT_FALSE(median_interval(one_to(2)));
  const auto three = median_interval({8, 2, 4});  // their logarithms: 2, 1 and 3 times log 2
  ASSERT_TRUE(three);
  EXPECT_EQ(three->median, 4);
  EXPECT_NEAR(std::log2(three->high / 4), 4.303 / std::sqrt(3), 1e-12);
  EXPECT_NEAR(three->low * three->high, 16, 1e-12);
  const auto interval = median_interval(one_to(6));
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->median, 3.5);
  EXPECT_EQ(interval->low, 1);
  EXPECT_EQ(interval->high, 6);
}

// ranks of the binomial table: n = 10 → 2 and 9, n = 20 → 6 and 15, n = 100 → 40 and 61
TEST(MedianInterval, TakesTheTabulatedRanks) {
  for (const auto& [n, low, high] : {std::tuple{10, 2, 9}, {20, 6, 15}, {100, 40, 61}}) {
    const auto interval = median_interval(one_to(n));
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->low, low) << n;
    EXPECT_EQ(interval->high, high) << n;
  }
}

// the samples of a block share its conditions
TEST(IntervalOfBlocks, HoldsTheMedianOfClusteredSamples) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  int held = 0, of_samples = 0;
  const int runs = 2000;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> samples;
    const std::vector<int> counts(12, 8);
    for (const int count : counts) {
      const double block = normal(random);
      for (int i = 0; i < count; ++i) samples.push_back(100 + block + normal(random));
    }
    const auto holds = [](const auto& i) { return i->low <= 100 && 100 <= i->high ? 1 : 0; };
    held += holds(interval_of_blocks(samples, counts, 0));
    of_samples += holds(median_interval(samples));
  }
  EXPECT_GE(held, 0.93 * runs);
  EXPECT_LE(of_samples, 0.9 * runs);  // they would be, if they were independent
}

TEST(IntervalOfBlocks, IsThatOfTheSamplesOfTooFewBlocks) {
  const auto two = interval_of_blocks({1, 2, 3, 4, 5, 6}, std::vector{3, 3}, 0);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->low, 1);
  EXPECT_EQ(two->high, 6);
  EXPECT_FALSE(interval_of_blocks({1, 2}, std::vector{1, 1}, 0));
}

TEST(IntervalOfBlocks, IsNoNarrowerThanTheClocksStep) {
  const std::vector<double> samples(12, 5);
  const auto interval = interval_of_blocks(samples, std::vector<int>(6, 2), 0.5);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->median, 5);
  EXPECT_EQ(interval->low, 4.75);
  EXPECT_EQ(interval->high, 5.25);
}

TEST(MiddleOfBlock, IsAMeanWhereTheClocksStepDecides) {
  const std::vector<double> ticks = {150, 150, 151, 150, 150, 151, 150, 400};
  EXPECT_NEAR(middle_of_block(ticks, 1), 150 + 2 / 7., 1e-9);  // without the delayed samples
  EXPECT_EQ(middle_of_block(ticks, 0), 150);
  EXPECT_EQ(middle_of_block({144, 149, 150, 155, 156, 160}, 1), 152.5);  // the step decides nothing
}

}  // namespace
}  // namespace recheck
