// SPDX-License-Identifier: Apache-2.0
//
// Simulates on the host how the blocks follow a schedule.

#include "../../kernels/peak/matmul/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace recheck {
namespace {

using kernels::matmul::in_stretches;
using kernels::matmul::Piece;
using kernels::matmul::Schedule;
using kernels::matmul::share;

std::string told(const Schedule& s, int tiles) {
  return std::to_string(tiles) + " tiles of " + std::to_string(s.slabs) + ", " +
         std::to_string(s.whole) + " whole, " + std::to_string(s.blocks) + " blocks";
}

/// Follows each block: every slab of each tile must be multiplied once, and added to its tile once,
/// in the order of k. Returns the number of slabs per block.
std::vector<int> expect_each_slab_once(const Schedule& schedule, int tiles) {
  std::vector<int> multiplied(tiles * schedule.slabs), arrived = multiplied, slabs_of_block;
  std::map<int, Piece> parts;  // left by blocks, until they are added
  const auto count = [&](std::vector<int>& times, const Piece& piece) {
    for (int s = piece.begin; s < piece.begin + piece.count; ++s)
      ++times[piece.tile * schedule.slabs + s];
  };
  for (int block = 0; block < schedule.blocks; ++block) {
    int slabs = 0;
    for (int i = 0; schedule.piece(block, i).count > 0; ++i) {
      const Piece piece = schedule.piece(block, i);
      count(multiplied, piece);
      slabs += piece.count;
      if (piece.begin == 0)
        count(arrived, piece);
      else
        EXPECT_TRUE(parts.emplace(block, piece).second) << "a second part overwrites the first";
    }
    EXPECT_EQ(schedule.total(block), slabs);
    slabs_of_block.push_back(slabs);
  }
  for (int tile = schedule.whole; tile < tiles; ++tile) {
    const auto [first, last] = schedule.going_on(tile);
    int end = 0;
    for (int block = first; block <= last; ++block) {
      const auto part = parts.extract(block);
      if (part.empty()) {
        ADD_FAILURE() << "block " << block << " has left nothing: " << told(schedule, tiles);
        continue;
      }
      EXPECT_EQ(part.mapped().tile, tile);
      EXPECT_TRUE(block == first || part.mapped().begin == end) << "not in the order of k";
      end = part.mapped().begin + part.mapped().count;
      count(arrived, part.mapped());
    }
  }
  EXPECT_TRUE(parts.empty());
  for (const auto& times : {multiplied, arrived})
    EXPECT_EQ(std::ranges::count(times, 1), std::ssize(times)) << told(schedule, tiles);
  return slabs_of_block;
}

TEST(Schedule, OfWholeTilesHasEverySlabOnce) {
  for (const int slabs : {1, 3, 64})
    for (const int tiles : {1, 5, 12, 13})
      expect_each_slab_once({slabs, tiles, std::min(tiles, 6)}, tiles);
}

TEST(Schedule, SplitByKAddsEverySlabOnceToItsTile) {
  for (const int most : {1, 2, 7, 132})
    for (const int tiles : {1, 2, 6, 7, 8, 13, 14, 15, 25, 131, 132, 133, 269})
      for (const int slabs : {1, 2, 3, 5, 64})
        expect_each_slab_once(in_stretches(tiles, slabs, most), tiles);
}

TEST(Schedule, SplitByKGivesAllBlocksEqualWork) {
  for (const int tiles : {33, 45, 64, 133, 200, 288, 512}) {
    const auto slabs = expect_each_slab_once(in_stretches(tiles, 64, 132), tiles);
    const auto [least, most] = std::ranges::minmax(slabs);
    EXPECT_EQ(slabs.size(), 132U);
    EXPECT_LE(most - least, 1) << tiles;
  }
}

TEST(Schedule, SplitByKGivesOutWholeTilesFirst) {
  struct {
    int tiles, slabs, whole;
  } const all[] = {// if blocks go round twice
                   {100, 64, 0},
                   {240, 64, 0},
                   {265, 64, 132},
                   {2048, 64, 14 * 132},
                   // cutting them would gain less than the ends cost
                   {123, 64, 0},
                   {124, 64, 124},
                   {132, 64, 132},
                   {256, 64, 256},
                   {264, 64, 264},
                   {9240, 64, 9240},
                   // the product would overflow 32 bits
                   {15, 1 << 27, 0},
                   {16, 1 << 27, 16}};
  for (const auto& [tiles, slabs, whole] : all)
    EXPECT_EQ(in_stretches(tiles, slabs, 132).whole, whole) << tiles;
}

// nor more blocks than tiles if a tile has one slab
TEST(Schedule, SplitByKDoesNotSplitAFewSlabs) {
  for (const auto& [tiles, slabs, blocks] :
       {std::tuple{1, 7, 1}, {1, 12, 3}, {10, 20, 50}, {100, 1, 100}})
    EXPECT_EQ(in_stretches(tiles, slabs, 132).blocks, blocks) << tiles;
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
