// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/time/rounds.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace recheck {
namespace {

void expect_balanced(const auto& ranks, int every) {
  const int last = static_cast<int>(ranks.size()) - 1;
  for (int blocks = every; blocks <= last + 1; ++blocks) {
    std::vector<int> taken;  // by a row that has time for this many blocks
    for (int round = 0; round <= last; ++round)
      if (ranks[round] < blocks) taken.push_back(round);
    ASSERT_EQ(std::ssize(taken), blocks);
    EXPECT_TRUE(taken.front() == 0 && taken.back() == last);
    const int twice_median = taken[(blocks - 1) / 2] + taken[blocks / 2];
    EXPECT_LE(std::abs(twice_median - last), 2) << blocks;
    for (int i = 1; i < blocks && blocks == every; ++i)
      EXPECT_LE(std::abs((taken[i] - taken[i - 1]) * (every - 1) - last), every - 1);
  }
}

TEST(Rounds, OfAnyRowHaveTheirMedianInTheMiddleOfTheRun) {
  expect_balanced(ranks_of_rounds(), fewest_samples);
  expect_balanced(ranks_of_rounds<13, 6>(), 6);
  expect_balanced(ranks_of_rounds<20, 7>(), 7);
}

TEST(Rounds, GiveEveryRowATurnInRandomOrderUntilNoneIsLeft) {
  std::vector<int> rows = {0, 1, 2, 3};
  std::mt19937_64 order(1);
  std::set<std::vector<int>> orders;
  in_rounds(50, rows, order, [&](int round) {
    orders.insert(rows);
    if (round == 39) rows.clear();
    EXPECT_LT(round, 40);
  });
  EXPECT_GT(orders.size(), 15U);
}

}  // namespace
}  // namespace recheck
