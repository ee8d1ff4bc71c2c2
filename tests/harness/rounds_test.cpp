// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/time/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <vector>

namespace recheck {
namespace {

/// The rounds that a row takes which has time for this many blocks.
std::vector<int> taken(const auto& ranks, int blocks) {
  std::vector<int> rounds;
  for (int round = 0; round < std::ssize(ranks); ++round)
    if (ranks[round] < blocks) rounds.push_back(round);
  return rounds;
}

void expect_balanced(const auto& ranks, int every) {
  const int last = static_cast<int>(ranks.size()) - 1;
  const auto shared = taken(ranks, every);
  EXPECT_EQ(shared.front(), 0);
  EXPECT_EQ(shared.back(), last);
  for (std::size_t i = 1; i < shared.size(); ++i)
    EXPECT_LE(std::abs((shared[i] - shared[i - 1]) * (every - 1) - last), every - 1);
  for (int blocks = every; blocks <= last + 1; ++blocks) {
    const auto rounds = taken(ranks, blocks);
    ASSERT_EQ(std::ssize(rounds), blocks);
    const int twice = rounds[(blocks - 1) / 2] + rounds[blocks / 2];
    EXPECT_LE(std::abs(twice - last), 2) << blocks;
  }
}

TEST(Rounds, OfAnyRowHaveTheirMedianInTheMiddleOfTheRun) {
  expect_balanced(ranks_of_rounds(), fewest_samples);
  expect_balanced(ranks_of_rounds<13, 6>(), 6);
  expect_balanced(ranks_of_rounds<20, 7>(), 7);
  expect_balanced(ranks_of_rounds<6, 6>(), 6);
}

TEST(Rounds, GiveEveryRowATurnInRandomOrderUntilNoneIsLeft) {
  std::vector<int> rows = {0, 1, 2, 3};
  std::mt19937_64 order(1);
  std::set<std::vector<int>> orders;
  int rounds = 0;
  in_rounds(50, rows, order, [&](int round) {
    EXPECT_EQ(round, rounds++);
    orders.insert(rows);
    if (round == 39) rows.clear();
  });
  EXPECT_EQ(rounds, 40);
  EXPECT_GT(orders.size(), 15U);
}

}  // namespace
}  // namespace recheck
