// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pre-pass of split_strassen.cu: the sums of blocks of A and of B that Winograd's products
// take. They are formed in fp32 while an element is split into its two fp16 planes
// (split_planes.cuh). Each thread holds the same place of all 4^levels blocks and writes it in
// 7^levels sums.
//
// Rows of A and columns of B are scaled by powers of two first. Otherwise a row that is added to
// much larger ones would lose the bits that these round off. A row takes the scale of the largest
// of the rows that it is added to if that is within the next power of two. Without this, rows of
// similar data, whose largest elements lie on two sides of a power of two, would differ by a factor
// of two. Largest elements come into [2^(14 - 2 levels), 2^(15 - 2 levels)), so sums of up to
// 4^levels elements stay in range. Source: Ballard, Benson, Druinsky, Lipshitz and Schwartz,
// "Improving the numerical stability of fast matrix multiplication", arXiv 1507.00687, there
// "outside scaling".
//
// The guard. Maxima that fp16 cannot scale raise it, as in split_planes.cuh. So does a row or
// column that is not 0 and has more than 3·⌊k/8⌋ of its k elements below 1/32 of the power of two
// above the maximum it is scaled for: its results could be far smaller than the rounding of the
// sums. strassen_bound() has the consequences.

#include "../float4.cuh"
#include "split_planes.cuh"
#include "strassen.hpp"

namespace recheck::kernels::matmul::strassen {

using split::magnitude;

/// In the workspace, cleared before each product.
struct Guard {
  unsigned bad;    // not 0: the product is split_fp16x3's
  unsigned begun;  // legs of all blocks (Pace)
};

/// Extents of the smallest blocks: m×n in C, k along the sums.
struct Blocks {
  int m, n, k;
};

constexpr int rows_threads = 512, columns_threads = 256;
constexpr int columns_wide = 128, columns_rows = 32;  // per block of threads of split_columns

/// The maximum for which a row is scaled, from its own largest magnitude and that of all rows that
/// it is added to.
__device__ inline unsigned shared_maximum(unsigned own, unsigned largest) {
  return own && (own >> 23) + 1 >= largest >> 23 ? largest : own;
}
/// The scaled value of 1/32 of the power of two above.
template <int levels>
constexpr float small_below = static_cast<float>(1 << (15 - 2 * levels)) / 32;

/// Whether a row of k elements, `small` of them small, is left to split_fp16x3.
__device__ inline bool too_uneven(unsigned small, int k) {
  return small > static_cast<unsigned>(k) / 8 * 3;
}

/// Where a thread's element goes in the first product's high plane. Each product's low plane
/// follows its high one, and the next product follows both.
struct To {
  unsigned short* high;
  std::int64_t plane;
};

/// Writes all sums of one place in 4^levels blocks (by rows of blocks) of A, or of B.
template <int levels, bool of_a>
__device__ __forceinline__ void write_sums(const float4 (&x)[1 << 2 * levels], const To& to,
                                           int product) {
  if constexpr (levels == 0) {
    // keeps the compiler from computing the addresses of all products first, in registers that the
    // blocks need
    std::int64_t plane = to.plane;
    asm volatile("" : "+l"(plane));
    split::store_fp16(x[0], {1, 1, 1, 1}, to.high + 2 * product * plane, plane);
  } else {
    constexpr int half = 1 << (levels - 1), quarter = half * half;
    const auto of = [&](int block, int i) -> const float4& {
      return x[(block / 2 * half + i / half) * 2 * half + block % 2 * half + i % half];
    };
    float4 y[quarter];
    const auto write = [&](int p, auto sum) {
#pragma unroll
      for (int i = 0; i < quarter; ++i) y[i] = sum(i);
      write_sums<levels - 1, of_a>(y, to, 7 * product + p);
    };
    // S4 and T4 are made of S2 and T2, which y holds from before
    if constexpr (of_a) {
      write(0, [&](int i) { return of(0, i); });
      write(1, [&](int i) { return of(1, i); });
      write(3, [&](int i) { return of(3, i); });
      write(6, [&](int i) { return of(0, i) - of(2, i); });
      write(4, [&](int i) { return of(2, i) + of(3, i); });
      write(5, [&](int i) { return y[i] - of(0, i); });
      write(2, [&](int i) { return of(1, i) - y[i]; });
    } else {
      write(0, [&](int i) { return of(0, i); });
      write(1, [&](int i) { return of(2, i); });
      write(2, [&](int i) { return of(3, i); });
      write(6, [&](int i) { return of(3, i) - of(1, i); });
      write(4, [&](int i) { return of(1, i) - of(0, i); });
      write(5, [&](int i) { return of(3, i) - y[i]; });
      write(3, [&](int i) { return of(2, i) - y[i]; });
    }
  }
}

__device__ inline unsigned largest_of(float4 x) {
  return max(max(magnitude(x.x), magnitude(x.y)), max(magnitude(x.z), magnitude(x.w)));
}

/// First launch: the largest magnitudes of B's columns.
template <bool aligned>
__global__ void __launch_bounds__(split::scan_threads)
    scan_columns(MatmulArgs p, unsigned* column_max) {
  __shared__ unsigned shared[split::scan_warps][split::scan_columns];
  split::scan_panel<aligned>(p, blockIdx.x, column_max, shared);
}

/// Second launch: a thread for each set of columns that are added to each other.
template <int levels>
__global__ void __launch_bounds__(256)
    share_columns(int n, int block_n, unsigned* column_max, Guard* guard) {
  const int j = blockIdx.x * 256 + threadIdx.x;
  if (j >= block_n) return;
  unsigned own[1 << levels], largest = 0;
#pragma unroll
  for (int c = 0; c < 1 << levels; ++c) {
    own[c] = j + c * std::int64_t{block_n} < n ? column_max[j + c * block_n] : 0;
    largest = max(largest, own[c]);
    if (!split::scalable(own[c])) guard->bad = 1;
  }
#pragma unroll
  for (int c = 0; c < 1 << levels; ++c)
    if (own[c]) column_max[j + c * block_n] = shared_maximum(own[c], largest);
}

/// Third launch: a block of threads for each set of rows of A that are added to each other. They
/// are read once if they fit into registers, otherwise again from L2.
template <int levels, bool aligned>
__global__ void __launch_bounds__(rows_threads, 1)
    split_rows(MatmulArgs p, Blocks blocks, unsigned short* planes, unsigned* row_max,
               Guard* guard) {
  constexpr int rows = 1 << levels, all = rows * rows, held = levels < 2 ? 4 : 1;
  constexpr int warps = rows_threads / 32;
  __shared__ unsigned shared[2][warps][rows];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quads = blocks.k / 4;
  const auto load = [&](int e, int q) -> float4 {
    const std::int64_t row = blockIdx.x + std::int64_t{e / rows} * blocks.m;
    if (row >= p.m || q >= quads) return {};
    return split::load4<aligned>(p.a + row * p.lda, e % rows * quads + q, p.k);
  };
  float4 x[held][all];
  unsigned most[rows] = {};
#pragma unroll
  for (int h = 0; h < held; ++h)
#pragma unroll
    for (int e = 0; e < all; ++e) x[h][e] = load(e, threadIdx.x + rows_threads * h);
#pragma unroll
  for (int h = 0; h < held; ++h)
#pragma unroll
    for (int e = 0; e < all; ++e) most[e / rows] = max(most[e / rows], largest_of(x[h][e]));
  for (int q = threadIdx.x + rows_threads * held; q < quads; q += rows_threads)
#pragma unroll
    for (int e = 0; e < all; ++e) most[e / rows] = max(most[e / rows], largest_of(load(e, q)));
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    most[r] = split::warp_max(most[r]);
    if (lane == 0) shared[0][warp][r] = most[r];
  }
  __syncthreads();
  unsigned largest = 0;
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    for (int w = 0; w < warps; ++w) most[r] = max(most[r], shared[0][w][r]);
    largest = max(largest, most[r]);
  }
  bool bad = false;
  float scale[rows];
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    bad |= !split::scalable(most[r]);
    most[r] = shared_maximum(most[r], largest);
    scale[r] = split::scale_up(most[r], 2 * levels);
  }

  unsigned small[rows] = {};
  const auto split = [&](float4(&y)[all], int q) {
#pragma unroll
    for (int e = 0; e < all; ++e) {
      const float s = scale[e / rows];
      y[e] = y[e] * float4{s, s, s, s};
      constexpr float limit = small_below<levels>;
      small[e / rows] += (fabsf(y[e].x) < limit) + (fabsf(y[e].y) < limit) +
                         (fabsf(y[e].z) < limit) + (fabsf(y[e].w) < limit);
    }
    const To to = {planes + std::int64_t{blockIdx.x} * blocks.k + 4 * q,
                   std::int64_t{blocks.m} * blocks.k};
    write_sums<levels, true>(y, to, 0);
  };
#pragma unroll
  for (int h = 0; h < held; ++h) {
    const int q = threadIdx.x + rows_threads * h;
    if (q < quads) split(x[h], q);
  }
  for (int q = threadIdx.x + rows_threads * held; q < quads; q += rows_threads) {
    float4 y[all];
#pragma unroll
    for (int e = 0; e < all; ++e) y[e] = load(e, q);
    split(y, q);
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    small[r] = split::warp_sum(small[r]);
    if (lane == 0) shared[1][warp][r] = small[r];
  }
  __syncthreads();
  if (threadIdx.x >= rows) return;
  // a thread for each row; all have the same most[] and scale[]
  unsigned count = 0, own = 0;
  for (int w = 0; w < warps; ++w) count += shared[1][w][threadIdx.x];
#pragma unroll
  for (int r = 0; r < rows; ++r)
    if (r == static_cast<int>(threadIdx.x)) own = most[r];
  count -= rows * blocks.k - p.k;  // zeros that stand for elements beyond the row's end
  const std::int64_t row = blockIdx.x + std::int64_t{threadIdx.x} * blocks.m;
  if (row >= p.m) return;
  row_max[row] = own;
  if (bad || (own && too_uneven(count, p.k))) guard->bad = 1;
}

/// Fourth launch: B, 128 columns and 32 rows of each block at a time.
template <int levels, bool aligned>
__global__ void __launch_bounds__(columns_threads, 2)
    split_columns(MatmulArgs p, Blocks blocks, unsigned short* planes, const unsigned* column_max,
                  unsigned* column_small) {
  constexpr int columns = 1 << levels, all = columns * columns, warps = columns_threads / 32;
  __shared__ unsigned shared[columns][32];  // counts of four columns in the bytes of a word
  for (int i = threadIdx.x; i < columns * 32; i += columns_threads) (&shared[0][0])[i] = 0;
  __syncthreads();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int across = (blocks.n + columns_wide - 1) / columns_wide;
  const int j = blockIdx.x % across * columns_wide + 4 * lane;
  const int top = blockIdx.x / across * columns_rows;
  if (j < blocks.n) {
    float4 scale[columns];
#pragma unroll
    for (int c = 0; c < columns; ++c) {
      const std::int64_t at = j + std::int64_t{c} * blocks.n;
      const auto of = [&](int i) {
        return split::scale_up(at + i < p.n ? column_max[at + i] : 0, 2 * levels);
      };
      scale[c] = {of(0), of(1), of(2), of(3)};
    }
    unsigned small[columns] = {};
    for (int row = top + warp; row < min(top + columns_rows, blocks.k); row += warps) {
      float4 x[all];
#pragma unroll
      for (int e = 0; e < all; ++e) {
        const std::int64_t r = row + std::int64_t{e / columns} * blocks.k;
        x[e] = r < p.k
                   ? split::load4<aligned>(p.b + r * p.ldb, (e % columns * blocks.n + j) / 4, p.n)
                   : float4{};
      }
#pragma unroll
      for (int e = 0; e < all; ++e) {
        x[e] = x[e] * scale[e % columns];
        constexpr float limit = small_below<levels>;
        small[e % columns] += (fabsf(x[e].x) < limit) | (fabsf(x[e].y) < limit) << 8 |
                              (fabsf(x[e].z) < limit) << 16 | (fabsf(x[e].w) < limit) << 24;
      }
      write_sums<levels, false>(
          x, {planes + std::int64_t{row} * blocks.n + j, std::int64_t{blocks.k} * blocks.n}, 0);
    }
    static_assert(columns * columns_rows < 256);
#pragma unroll
    for (int c = 0; c < columns; ++c) atomicAdd(&shared[c][lane], small[c]);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns * columns_wide; i += columns_threads) {
    const int c = i / columns_wide, of = i % columns_wide;
    const int column = blockIdx.x % across * columns_wide + of;
    const std::int64_t at = column + std::int64_t{c} * blocks.n;
    const unsigned count = shared[c][of / 4] >> 8 * (of % 4) & 255;
    if (column < blocks.n && at < p.n && count) atomicAdd(&column_small[at], count);
  }
}

/// Fifth launch: whether a column is too uneven.
template <int levels>
__global__ void __launch_bounds__(256)
    judge_columns(MatmulArgs p, Blocks blocks, const unsigned* column_max,
                  const unsigned* column_small, Guard* guard) {
  const std::int64_t j = std::int64_t{blockIdx.x} * 256 + threadIdx.x;
  if (j >= p.n || !column_max[j]) return;
  const unsigned beyond = (1 << levels) * blocks.k - p.k;
  if (too_uneven(column_small[j] - beyond, p.k)) guard->bad = 1;
}

}  // namespace recheck::kernels::matmul::strassen
