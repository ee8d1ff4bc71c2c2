// SPDX-License-Identifier: Apache-2.0
#pragma once

// The schedule of split products: which tiles a block of the persistent grid computes, and the pace
// that keeps the blocks from running ahead of each other. Blocks that run at the same time read the
// same panels. If they read them soon after each other, all but the first read from L2. Only memory
// itself keeps them together: where a tile's panels are several times L2, as at 16384³, some blocks
// drift ahead, each reads from DRAM, and the time of the same launch varies. A few blocks that fall
// behind hold up no others.

#include "matmul.hpp"
#include "split_schemes.cuh"

namespace recheck::kernels::matmul::split {

constexpr int band_tiles = 12;  // rows of tiles that run together and share panels in L2
constexpr int leg = 16;         // slabs of a leg (Pace): 6 MB of all blocks, in fp16x3

/// C's tiles in bands of rows; within a band, columns of tiles one after another.
template <int tile_n>
struct Tiles {
  int down, across, count;

  __device__ explicit Tiles(const MatmulArgs& p)
      : down((p.m + tile_m - 1) / tile_m),
        across((p.n + tile_n - 1) / tile_n),
        count(down * across) {}
  /// The first row and column of tile t.
  __device__ void corner(int t, int& row, int& column) const {
    const int band = t / (band_tiles * across), first = band * band_tiles;
    const int height = min(band_tiles, down - first), rest = t - first * across;
    row = (first + rest % height) * tile_m;
    column = rest / height * tile_n;
  }
};

/// Used by one thread of each block. The block goes through tiles blockIdx.x, blockIdx.x +
/// gridDim.x and so on, each in `legs` legs.
class Pace {
 public:
  /// `begun` is a word in global memory, 0 when the grid starts: the number of legs that all its
  /// blocks have begun.
  __device__ Pace(unsigned* begun, int tiles, int legs)
      : begun_(begun),
        whole_(tiles / static_cast<int>(gridDim.x) * legs),
        rest_(tiles % static_cast<int>(gridDim.x)) {}

  /// Before each leg: waits while this block is too far ahead of the mean. No result depends on the
  /// wait. The blocks that it waits for may not be running yet, so it waits for long once, and then
  /// never again.
  __device__ void begin_leg() {
    atomicAdd(begun_, 1u);
    const int due = mine_++ - lead;  // of each block
    if (due <= 0 || alone_) return;
    const unsigned least = min(due, whole_) * gridDim.x + max(due - whole_, 0) * rest_;
    for (int looks = 0; static_cast<int>(*const_cast<volatile unsigned*>(begun_) - least) < 0;
         ++looks)
      if (looks == most_looks) {
        alone_ = true;
        return;
      }
  }

 private:
  static constexpr int lead = 1;
  // each look is a load from L2: 100 us at least in all, which is several legs
  static constexpr int most_looks = 1000;

  unsigned* begun_;
  int whole_;  // legs of a block without an extra tile
  int rest_;   // blocks with an extra tile
  int mine_ = 0;
  bool alone_ = false;
};

}  // namespace recheck::kernels::matmul::split
