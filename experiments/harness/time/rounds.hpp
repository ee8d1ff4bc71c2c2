// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "../case/case.hpp"
#include "../table/method.hpp"

namespace recheck {

// Rounds: how the samples of a shape's rows interleave. Each row takes a block of samples in every
// round, and the rows take turns in random order, so a drift of clock or temperature affects all
// alike. They are compared in shared rounds. All end together: a row that continued on its own
// would be timed at another temperature, clock and cache state than the rows that it is compared
// with.
//
// A row that has time for n blocks only takes the rounds of rank < n. The lowest ranks, which every
// row takes, are spread evenly over the run. The others go from the middle outwards. So the median
// of a row's rounds is at most one round from the middle for any n, and a drift moves all medians
// alike.
//
// On an H200, 1, 4 and 16 samples per block differed equally between two processes. Within a
// process, 8 distinguish four times smaller differences at 60 us than 4. Medians of 12 rounds have
// intervals of ±0.11 % from 100 us on and ±0.4 % from 10 us on; 20 rounds give 0.09 and 0.3 %.
// Between two processes, 97 of 100 medians differ by up to 0.2 to 0.5 % and 1.3 to 2.4 %.

/// The rank of each of `count` rounds. All rows take `every` of them.
template <int count = method.rounds, int every = fewest_samples>
constexpr std::array<int, count> ranks_of_rounds() {
  static_assert(1 < every && every <= count);
  std::array<int, count> ranks{};
  ranks.fill(count);
  int rank = 0;
  for (; rank < every; ++rank) ranks[(2 * rank * (count - 1) / (every - 1) + 1) / 2] = rank;
  for (int below = (count - 1) / 2; below >= 0; --below)
    for (const int round : {below, count - 1 - below})
      if (ranks[round] == count) ranks[round] = rank++;
  return ranks;
}

/// Calls body(round) for each of `count` rounds with `rows` in a random order, while there are any
/// and the run is not interrupted.
template <typename Row, typename Body>
void in_rounds(int count, std::vector<Row>& rows, std::mt19937_64& order, Body body) {
  for (int round = 0; round < count && !rows.empty() && !interrupted; ++round) {
    std::ranges::shuffle(rows, order);
    body(round);
  }
}

}  // namespace recheck
