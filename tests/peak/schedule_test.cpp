// SPDX-License-Identifier: Apache-2.0
//
// A schedule as the blocks would follow it, in plain numbers.

#include "../../kernels/peak/matmul/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace recheck {
namespace {

using kernels::matmul::in_stretches;
using kernels::matmul::Piece;
using kernels::matmul::Schedule;
using kernels::matmul::share;

/// How often each slab of each tile is multiplied and how often it ends up in C, and how many
/// each block multiplies.
struct Outcome {
  std::map<std::pair<int, int>, int> multiplied, arrived;
  std::vector<int> slabs_of_block;
};

Outcome follow(const Schedule& schedule, int tiles) {
  Outcome outcome;
  std::map<int, Piece> parts;  // that blocks have left, until they are added
  const auto arrive = [&](const Piece& piece) {
    for (int s = piece.begin; s < piece.begin + piece.count; ++s)
      ++outcome.arrived[{piece.tile, s}];
  };
  for (int block = 0; block < schedule.blocks; ++block) {
    int slabs = 0;
    for (int i = 0; schedule.piece(block, i).count > 0; ++i) {
      const Piece piece = schedule.piece(block, i);
      for (int s = piece.begin; s < piece.begin + piece.count; ++s)
        ++outcome.multiplied[{piece.tile, s}];
      slabs += piece.count;
      if (piece.begin == 0) {
        arrive(piece);
      } else {
        EXPECT_TRUE(parts.emplace(block, piece).second) << "a second part overwrites the first";
      }
    }
    EXPECT_EQ(schedule.total(block), slabs);
    outcome.slabs_of_block.push_back(slabs);
  }
  for (int tile = schedule.whole; tile < tiles; ++tile) {
    const auto [first, last] = schedule.going_on(tile);
    int end = -1;
    for (int block = first; block <= last; ++block) {
      const auto part = parts.extract(block);
      if (part.empty()) {
        ADD_FAILURE() << "block " << block << " has left nothing";
        continue;
      }
      EXPECT_EQ(part.mapped().tile, tile);
      if (block > first) {
        EXPECT_EQ(part.mapped().begin, end) << "not in the order of k";
      }
      end = part.mapped().begin + part.mapped().count;
      arrive(part.mapped());
    }
  }
  EXPECT_TRUE(parts.empty());
  return outcome;
}

std::string told(const Schedule& s, int tiles) {
  return std::to_string(tiles) + " tiles of " + std::to_string(s.slabs) + ", " +
         std::to_string(s.whole) + " whole, " + std::to_string(s.blocks) + " blocks";
}

void expect_each_slab_once(const Schedule& schedule, int tiles) {
  const Outcome outcome = follow(schedule, tiles);
  const auto all = static_cast<std::size_t>(tiles) * static_cast<std::size_t>(schedule.slabs);
  for (const auto& times : {outcome.multiplied, outcome.arrived}) {
    EXPECT_EQ(times.size(), all) << told(schedule, tiles);
    EXPECT_TRUE(std::ranges::all_of(times, [](const auto& t) { return t.second == 1; }))
        << told(schedule, tiles);
  }
}

TEST(Schedule, OfWholeTilesHasEverySlabOnce) {
  for (const int slabs : {1, 3, 64})
    for (const int tiles : {1, 5, 12, 13})
      expect_each_slab_once({slabs, tiles, std::min(tiles, 6)}, tiles);
}

TEST(Schedule, InStretchesHasEverySlabOnceAndBringsItToItsTile) {
  for (const int most : {1, 2, 7, 132})
    for (const int tiles : {1, 2, 6, 7, 8, 13, 14, 15, 21, 25, 131, 132, 133, 264, 269, 400})
      for (const int slabs : {1, 2, 3, 5, 64})
        expect_each_slab_once(in_stretches(tiles, slabs, most), tiles);
}

TEST(Schedule, InStretchesGivesAllBlocksAlikeWhateverTheNumberOfTiles) {
  for (const int tiles : {33, 45, 64, 133, 200, 288, 512, 2048}) {
    const auto slabs = follow(in_stretches(tiles, 64, 132), tiles).slabs_of_block;
    const auto [least, most] = std::ranges::minmax(slabs);
    EXPECT_EQ(slabs.size(), 132U);
    EXPECT_LE(most - least, 1) << tiles;
  }
}

TEST(Schedule, InStretchesDealsOutWholeTilesAsLongAsTheyGoRoundTwice) {
  EXPECT_EQ(in_stretches(100, 64, 132).whole, 0);
  EXPECT_EQ(in_stretches(240, 64, 132).whole, 0);
  EXPECT_EQ(in_stretches(265, 64, 132).whole, 132);
  EXPECT_EQ(in_stretches(2048, 64, 132).whole, 14 * 132);
}

TEST(Schedule, InStretchesCutsNothingForLessThanTheEndsCost) {
  for (const int tiles : {124, 132, 256, 264, 132 * 70}) {
    EXPECT_EQ(in_stretches(tiles, 64, 132).whole, tiles);
  }
  EXPECT_EQ(in_stretches(123, 64, 132).whole, 0);
  EXPECT_EQ(in_stretches(100, 1, 132).blocks,
            100);  // and takes no more blocks than there are tiles
}

TEST(Schedule, InStretchesMakesNoneOfAFewSlabs) {
  EXPECT_EQ(in_stretches(1, 7, 132).blocks, 1);
  EXPECT_EQ(in_stretches(1, 12, 132).blocks, 3);
  EXPECT_EQ(in_stretches(10, 20, 132).blocks, 50);
}

TEST(Schedule, InStretchesCutsNoLineThatPlainNumbersCannotHold) {
  EXPECT_EQ(in_stretches(15, 1 << 27, 132).whole, 0);
  EXPECT_EQ(in_stretches(16, 1 << 27, 132).whole, 16);
}

TEST(Schedule, SharesOfATileHaveEverySlabOnce) {
  for (const int slabs : {1, 3, 64}) {
    for (const int split : {1, 2, 4}) {
      std::vector<int> all, expected(static_cast<std::size_t>(slabs));
      std::iota(expected.begin(), expected.end(), 0);
      for (int rank = 0; rank < split; ++rank) {
        const Piece piece = share(5, slabs, rank, split);
        EXPECT_EQ(piece.tile, 5);
        for (int s = 0; s < piece.count; ++s) all.push_back(piece.begin + s);
      }
      EXPECT_EQ(all, expected);
    }
  }
}

}  // namespace
}  // namespace recheck
