// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which block of a persistent grid computes what of a product, in plain numbers: C's tiles, and the
// slabs along k that each of them takes.

#include <cstdint>

#ifdef __CUDACC__
#define RECHECK_ANYWHERE __host__ __device__ constexpr
#else
#define RECHECK_ANYWHERE constexpr
#endif

namespace recheck::kernels::matmul {

/// `count` slabs of a tile, from `begin` on.
struct Piece {
  int tile, begin, count;
};

/// What stretches leave to be added to a tile: the parts of those from `first` to `last`.
struct Tail {
  int tile, first, last;
};

/// Of all tiles the first `whole` are dealt out one by one, to blocks or to clusters of `split`
/// blocks that share k. The slabs of all tiles behind them lie in one line, of which every block
/// gets an equal stretch, wherever tiles end in it.
struct Schedule {
  int tiles, slabs;  // slabs of each tile, at least one
  int whole;
  int blocks;
  int split = 1;

  /// Where in the line the stretch of a block begins, and that of the one before it ends.
  RECHECK_ANYWHERE int stretch(int block) const {
    const auto line = static_cast<std::int64_t>(tiles - whole) * slabs;
    return static_cast<int>(line * block / blocks);
  }

  /// The i-th piece of a block; behind its last one without slabs. None but the first of its
  /// stretch begins inside a tile.
  RECHECK_ANYWHERE Piece piece(int block, int i) const {
    const int first = block / split, stride = blocks / split, rank = block % split;
    const int tile = first + i * stride;
    if (tile < whole) {
      const int begin = share(rank);
      return {tile, begin, share(rank + 1) - begin};
    }
    if (split > 1) return {0, 0, 0};
    if (first < whole) i -= (whole - first + stride - 1) / stride;
    const int end = stretch(block + 1);
    int begin = stretch(block);
    if (i > 0) begin = (begin / slabs + i) * slabs;
    if (begin >= end) return {0, 0, 0};
    const int inside = begin % slabs, left = end - begin;
    return {whole + begin / slabs, inside, left < slabs - inside ? left : slabs - inside};
  }

  /// What is to be added to the tile that the stretch of a block, not the first, goes on in: only
  /// if that block is the first to go on in it, else `last` lies before `first`.
  RECHECK_ANYWHERE Tail tail(int block) const {
    const int tile = stretch(block) / slabs, head = tile * slabs;
    if (stretch(block) == head || stretch(block - 1) > head) return {0, 0, -1};
    int last = block;
    while (last + 1 < blocks && stretch(last + 1) < head + slabs) ++last;
    return {whole + tile, block, last};
  }

 private:
  RECHECK_ANYWHERE int share(int rank) const {
    return static_cast<int>(static_cast<std::int64_t>(slabs) * rank / split);
  }
};

/// The schedule with stretches on at most `most` blocks: whole tiles for as long as there are two
/// for each, then the rest in one line.
RECHECK_ANYWHERE Schedule in_stretches(int tiles, int slabs, int most) {
  if (tiles % most == 0) return {tiles, slabs, tiles, most};
  const int waves = tiles / most;
  if (waves > 1) return {tiles, slabs, (waves - 1) * most, most};
  // a stretch of fewer slabs would spend more on its ends than on its sums
  constexpr int shortest = 4;
  const std::int64_t stretches = static_cast<std::int64_t>(tiles) * slabs / shortest;
  return {tiles, slabs, 0,
          stretches < 1 ? 1 : static_cast<int>(stretches < most ? stretches : most)};
}

#undef RECHECK_ANYWHERE

}  // namespace recheck::kernels::matmul
