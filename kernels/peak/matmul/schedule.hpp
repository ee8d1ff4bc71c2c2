// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which parts of a product each block of a persistent grid computes: which tiles of C, and which
// slabs along k of each tile.

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

/// The slabs of a tile that fall to block `rank` of the `split` blocks that share it.
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

/// The first `whole` tiles go to the blocks one by one. The slabs of the remaining tiles form one
/// line, tile after tile. Every block gets a range of the line, which need not end where a tile
/// does.
struct Schedule {
  int slabs;  // of a tile, at least one
  int whole;
  int blocks;
  int stretch = 0, longer = 0;  // slabs in a block's range; the first `longer` ranges have one more

  /// The i-th piece of a block; after its last piece, one without slabs. Only the first piece of a
  /// range can begin inside a tile.
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

  /// The blocks whose ranges begin inside `tile`, which an earlier block has begun; no blocks if
  /// last < first.
  RECHECK_ANYWHERE Blocks going_on(int tile) const {
    const int begin = (tile - whole) * slabs;
    return {block_at(begin) + 1, block_at(begin + slabs - 1)};
  }

 private:
  /// The slab of the line at which a block's range begins and the previous block's ends.
  RECHECK_ANYWHERE int line(int block) const {
    return block * stretch + (block < longer ? block : longer);
  }
  RECHECK_ANYWHERE int block_at(int slab) const {
    const int inside = slab - longer * (stretch + 1);
    return inside < 0 ? slab / (stretch + 1) : longer + inside / stretch;
  }
};

/// A schedule for at most `most` blocks: whole tiles while at least two per block remain, then the
/// rest as one line. Whole tiles only, if that is at most `ends` slabs slower.
RECHECK_ANYWHERE Schedule in_stretches(int tiles, int slabs, int most) {
  constexpr int ends = 4;  // about the cost, in slabs, of a range's two ends; no range is shorter
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
