// SPDX-License-Identifier: Apache-2.0
#pragma once

// Strassen's multiplication in Winograd's form, as a list of steps that a block goes through for
// one tile position. With `levels` levels A, B and C are cut into 2^levels × 2^levels blocks, and
// 7^levels products of sums of blocks replace 8^levels products of blocks. One level:
//
//   S1 = A21 + A22   S2 = S1 - A11   S3 = A11 - A21   S4 = A12 - S2
//   T1 = B12 - B11   T2 = B22 - T1   T3 = B22 - B12   T4 = B21 - T2, its sign turned
//   P1 = A11·B11   P2 = A12·B21   P3 = S4·B22   P4 = A22·T4   P5 = S1·T1   P6 = S2·T2   P7 = S3·T3
//   C11 = P1 + P2   U2 = P1 + P6   U3 = U2 + P7   C21 = U3 + P4   C22 = U3 + P5   U4 = U2 + P5
//   C12 = U4 + P3
//
// Only P1 (then U2, U4) and U3 are needed again: two tiles of scratch, or at an outer level two for
// each tile of a quarter of the product. Where a product is added to the previous sum, the
// innermost level continues in the same accumulators. Source: Winograd, "On multiplication of 2×2
// matrices", 1971; the order is that of Douglas et al., "GEMMW", 1994, with sums kept by tile
// instead of by matrix.

namespace recheck::kernels::matmul::strassen {

constexpr int power(int base, int exponent) {
  return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/// A sum made of a product's tile: the tile, plus tiles of scratch, and its destination. A place
/// other than `none`, `self` or a block of C (from `c_block` on, by rows) is a tile of scratch.
struct Sum {
  int to;
  int plus[2];
};
constexpr int none = -1, self = -2, c_block = 1 << 16;

/// A product, the start of its accumulators (a tile of scratch, none, or itself: their current
/// values), and the sums made of it, in this order.
struct Step {
  int product, start, first_sum, sums;
};

template <int levels>
struct Program {
  static constexpr int products = power(7, levels), blocks = 1 << levels;
  Step steps[products] = {};
  Sum sums[2 * products] = {};
  int scratch = 0;  // tiles
};

namespace detail {

/// The destinations of one tile of a product.
struct Sums {
  Sum of[4] = {};
  int count = 0;

  constexpr Sums with(int tile) const {
    Sums all = *this;
    for (int s = 0; s < count; ++s) {
      int i = 0;
      while (all.of[s].plus[i] != none) ++i;
      all.of[s].plus[i] = tile;
    }
    return all;
  }
  constexpr Sums and_then(int to, int plus) const {
    Sums all = *this;
    all.of[all.count++] = {to, {plus, none}};
    return all;
  }
};

template <int levels>
struct Builder {
  Program<levels> program;
  int step = 0, sum = 0;

  constexpr void add(int product, int start, const Sums& sums) {
    program.steps[step++] = {product, start, sum, sums.count};
    for (int i = 0; i < sums.count; ++i) program.sums[sum++] = sums.of[i];
  }

  /// Product p of `level` levels. Its tile t goes where to[t] says, with scratch from `free` on.
  template <int level>
  constexpr void add_product(int p, int free, const Sums (&to)[1 << 2 * level]) {
    if constexpr (level == 0) {
      add(p, none, to[0]);
    } else {
      constexpr int half = 1 << (level - 1), tiles = half * half, next = 2 * tiles;
      const int first = free, second = free + tiles;
      if (program.scratch < free + next) program.scratch = free + next;
      const auto tile_of_c = [&](int block, int t) -> const Sums& {
        return to[(block / 2 * half + t / half) * 2 * half + block % 2 * half + t % half];
      };
      if constexpr (level == 1) {
        add(7 * p + 0, none, Sums{}.and_then(first, none));              // P1
        add(7 * p + 1, self, to[0]);                                     // C11
        add(7 * p + 5, first, Sums{}.and_then(first, none));             // U2
        add(7 * p + 6, self, Sums{}.and_then(second, none));             // U3
        add(7 * p + 3, self, to[2]);                                     // C21
        add(7 * p + 4, none, to[3].with(second).and_then(self, first));  // C22, U4
        add(7 * p + 2, self, to[1]);                                     // C12
      } else {
        Sums sums[tiles];
        const auto each = [&](int product, auto make) {
          for (int t = 0; t < tiles; ++t) sums[t] = make(t);
          add_product<level - 1>(7 * p + product, free + next, sums);
        };
        const Sums nothing;
        each(0, [&](int t) { return nothing.and_then(first + t, none); });
        each(1, [&](int t) { return tile_of_c(0, t).with(first + t); });
        each(5, [&](int t) { return nothing.and_then(first + t, first + t); });
        each(6, [&](int t) { return nothing.and_then(second + t, first + t); });
        each(3, [&](int t) { return tile_of_c(2, t).with(second + t); });
        each(4, [&](int t) {
          return tile_of_c(3, t).with(second + t).and_then(first + t, first + t);
        });
        each(2, [&](int t) { return tile_of_c(1, t).with(first + t); });
      }
    }
  }
};

}  // namespace detail

template <int levels>
constexpr Program<levels> program() {
  detail::Builder<levels> builder;
  detail::Sums all[1 << 2 * levels];
  for (int block = 0; block < 1 << 2 * levels; ++block)
    all[block] = detail::Sums{}.and_then(c_block + block, none);
  builder.template add_product<levels>(0, 0, all);
  return builder.program;
}

/// Rows or columns of a block along an extent: equal for all blocks, on 16 bytes of fp16.
constexpr int block_extent(int extent, int levels) {
  const int blocks = 1 << levels;
  return ((extent + blocks - 1) / blocks + 7) / 8 * 8;
}

}  // namespace recheck::kernels::matmul::strassen
