// SPDX-License-Identifier: Apache-2.0
//
// A schedule as the blocks and the kernel that adds parts would follow it, in plain numbers.

#include "../../kernels/matmul/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace recheck {
namespace {

using kernels::matmul::in_stretches;
using kernels::matmul::Schedule;

/// How often each slab of each tile is multiplied and where it ends up: in C, in a part that is
/// added to that tile, or nowhere.
struct Outcome {
  std::map<std::pair<int, int>, int> multiplied, arrived;
  std::vector<int> slabs_of_block;
};

Outcome follow(const Schedule& schedule) {
  struct Part {
    int tile = -1, begin = 0, count = 0;
  };
  Outcome outcome;
  std::vector<Part> parts(static_cast<std::size_t>(schedule.blocks));
  const auto arrive = [&](int tile, int begin, int count) {
    for (int s = begin; s < begin + count; ++s) ++outcome.arrived[{tile, s}];
  };
  for (int block = 0; block < schedule.blocks; ++block) {
    int slabs = 0;
    for (int i = 0; schedule.piece(block, i).count > 0; ++i) {
      const auto [tile, begin, count] = schedule.piece(block, i);
      for (int s = begin; s < begin + count; ++s) ++outcome.multiplied[{tile, s}];
      slabs += count;
      if (begin == 0 || schedule.split > 1)  // a cluster adds up by itself
        arrive(tile, begin, count);
      else  // a second part would overwrite the first
        EXPECT_EQ(std::exchange(parts[static_cast<std::size_t>(block)], {tile, begin, count}).tile,
                  -1);
    }
    outcome.slabs_of_block.push_back(slabs);
  }
  for (int block = 1; block < schedule.blocks; ++block) {
    const auto tail = schedule.tail(block);
    int end = -1;
    for (int s = tail.first; s <= tail.last; ++s) {
      const Part& part = parts[static_cast<std::size_t>(s)];
      EXPECT_EQ(part.tile, tail.tile);
      if (s > tail.first) {
        EXPECT_EQ(part.begin, end) << "not in the order of k";
      }
      end = part.begin + part.count;
      arrive(part.tile, part.begin, part.count);
    }
  }
  return outcome;
}

std::string told(const Schedule& s) {
  return std::to_string(s.tiles) + " tiles of " + std::to_string(s.slabs) + ", " +
         std::to_string(s.whole) + " whole, " + std::to_string(s.blocks) + " blocks";
}

void expect_each_slab_once(const Schedule& schedule) {
  const Outcome outcome = follow(schedule);
  const auto all =
      static_cast<std::size_t>(schedule.tiles) * static_cast<std::size_t>(schedule.slabs);
  for (const auto& times : {outcome.multiplied, outcome.arrived}) {
    EXPECT_EQ(times.size(), all) << told(schedule);
    EXPECT_TRUE(std::ranges::all_of(times, [](const auto& t) { return t.second == 1; }))
        << told(schedule);
  }
}

TEST(Schedule, InStretchesHasEverySlabOnceAndBringsItToItsTile) {
  for (const int most : {1, 2, 7, 132})
    for (const int tiles : {1, 2, 6, 7, 8, 13, 14, 15, 21, 25, 131, 132, 133, 264, 269, 400})
      for (const int slabs : {1, 2, 3, 5, 64})
        expect_each_slab_once(in_stretches(tiles, slabs, most));
}

TEST(Schedule, InStretchesGivesAllBlocksAlikeWhateverTheNumberOfTiles) {
  for (const int tiles : {33, 45, 64, 131, 133, 200, 288, 512, 2048}) {
    const auto slabs = follow(in_stretches(tiles, 64, 132)).slabs_of_block;
    const auto [least, most] = std::ranges::minmax(slabs);
    EXPECT_EQ(slabs.size(), 132U);
    EXPECT_LE(most - least, 1) << tiles;
  }
}

TEST(Schedule, InStretchesDealsOutWholeTilesAsLongAsTheyGoRoundTwice) {
  EXPECT_EQ(in_stretches(131, 64, 132).whole, 0);
  EXPECT_EQ(in_stretches(263, 64, 132).whole, 0);
  EXPECT_EQ(in_stretches(265, 64, 132).whole, 132);
  EXPECT_EQ(in_stretches(2048, 64, 132).whole, 14 * 132);
  // and all where they go round evenly: then nothing is left to add
  EXPECT_EQ(in_stretches(264, 64, 132).whole, 264);
}

TEST(Schedule, InStretchesMakesNoneOfAFewSlabs) {
  EXPECT_EQ(in_stretches(1, 3, 132).blocks, 1);
  EXPECT_EQ(in_stretches(1, 8, 132).blocks, 2);
  EXPECT_EQ(in_stretches(10, 20, 132).blocks, 50);
}

TEST(Schedule, OfWholeTilesAndOfClustersHasEverySlabOnce) {
  for (const int slabs : {1, 3, 64}) {
    for (const int tiles : {1, 5, 12, 13}) {
      expect_each_slab_once({tiles, slabs, tiles, std::min(tiles, 6)});
      expect_each_slab_once({tiles, slabs, tiles, 4 * tiles, 4});
    }
  }
}

}  // namespace
}  // namespace recheck
