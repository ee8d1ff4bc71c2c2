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

/// The share of slabs that falls to one of `split` blocks that work on a tile together.
RECHECK_ANYWHERE Piece share(int tile, int slabs, int rank, int split) {
  const auto begin = [=](int r) {
    return static_cast<int>(static_cast<std::int64_t>(slabs) * r / split);
  };
  return {tile, begin(rank), begin(rank + 1) - begin(rank)};
}

/// The blocks from `first` to `last`.
struct Blocks {
  int first, last;
};

/// Of all tiles the first `whole` are dealt out one by one. The slabs of those behind them lie in
/// one line, of which every block gets a stretch, wherever tiles end in it.
struct Schedule {
  int slabs;  // of a tile, at least one
  int whole;
  int blocks;
  int stretch = 0, longer = 0;  // slabs of a stretch; so many of the first have one more

  /// The i-th piece of a block; behind its last one without slabs. None but the first of its
  /// stretch begins inside a tile.
  RECHECK_ANYWHERE Piece piece(int block, int i) const {
    const int tile = block + i * blocks;
    if (tile < whole) return {tile, 0, slabs};
    i -= whole / blocks;
    int begin = line(block);
    if (i > 0) begin = (begin / slabs + i) * slabs;
    const int left = line(block + 1) - begin, inside = begin % slabs;
    if (left <= 0) return {0, 0, 0};
    return {whole + begin / slabs, inside, left < slabs - inside ? left : slabs - inside};
  }

  /// The slabs of all pieces of a block.
  RECHECK_ANYWHERE int total(int block) const {
    return (whole + blocks - 1 - block) / blocks * slabs + line(block + 1) - line(block);
  }

  /// Those whose stretches go on in a tile that another began: none if `last` lies before `first`.
  RECHECK_ANYWHERE Blocks going_on(int tile) const {
    const int begin = (tile - whole) * slabs;
    return {block_at(begin) + 1, block_at(begin + slabs - 1)};
  }

 private:
  /// Where in the line the stretch of a block begins, and that of the block before it ends.
  RECHECK_ANYWHERE int line(int block) const {
    return block * stretch + (block < longer ? block : longer);
  }
  RECHECK_ANYWHERE int block_at(int slab) const {
    const int inside = slab - longer * (stretch + 1);
    return inside < 0 ? slab / (stretch + 1) : longer + inside / stretch;
  }
};

/// The schedule with stretches on at most `most` blocks: whole tiles for as long as there are two
/// for each, then the rest in one line. All whole where that is no more than `ends` slabs slower.
RECHECK_ANYWHERE Schedule in_stretches(int tiles, int slabs, int most) {
  constexpr int ends = 4;  // about what the two ends of a stretch cost; none is shorter
  const std::int64_t all = static_cast<std::int64_t>(tiles) * slabs;
  const std::int64_t blocks = all / ends < 1 ? 1 : all / ends < most ? all / ends : most;
  const std::int64_t waves = (tiles - 1) / most + 1;
  const int whole = tiles < 2 * most ? 0 : (tiles / most - 1) * most;
  const std::int64_t line = static_cast<std::int64_t>(tiles - whole) * slabs;
  if (waves * slabs - all / blocks <= ends || line > 0x7fffffff)
    return {slabs, tiles, tiles < most ? tiles : most};
  return {slabs, whole, static_cast<int>(blocks), static_cast<int>(line / blocks),
          static_cast<int>(line % blocks)};
}

#undef RECHECK_ANYWHERE

}  // namespace recheck::kernels::matmul
