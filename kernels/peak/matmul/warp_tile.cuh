// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the kernels from warp_tile.cu on share: how a block's tile of C is divided among warps and
// lanes, a thread's fragments of A's and B's slab, their outer product, and how C is written.

#include <cstdint>

#include "../vectors.hpp"
#include "matmul.hpp"

namespace recheck::kernels::matmul {

/// A block's tile (warps_m·4·tm, warps_n·8·tn): each warp has 4×8 lanes, each lane tm×tn outputs in
/// 4×4 pieces, so that every fragment is a few 16-byte loads. Slabs are `depth` deep along k: first
/// A's, transposed, (depth, a_pitch), then B's, (depth, columns).
template <int warps_m_, int warps_n_, int tm_, int tn_, int depth_>
struct WarpTiles {
  static constexpr int warps_m = warps_m_, warps_n = warps_n_, tm = tm_, tn = tn_, depth = depth_;
  static constexpr int rows = warps_m * 4 * tm, columns = warps_n * 8 * tn;
  static constexpr int warps = warps_m * warps_n, threads = 32 * warps;
  static constexpr int a_pitch = rows + 4;  // eight k by four rows are written to 32 banks
  static constexpr int a_floats = depth * a_pitch, slab_floats = a_floats + depth * columns;
  static_assert(tm % 4 == 0 && tn % 4 == 0 && depth % 8 == 0);
};

/// Where a thread's outputs begin in the block's tile.
struct Place {
  int row, column;
};

/// Lanes 0, 1 and 0, 2 are neighbours along m and along n. In each half of the warp the lanes that
/// share a fragment lie so that shared memory serves 16 lanes at once: a 16-byte load takes 2
/// wavefronts instead of 4.
template <typename T>
__device__ __forceinline__ Place place_in_tile(int warp, int lane) {
  const int lane_row = (lane & 1) | lane >> 4 << 1, lane_column = lane >> 1 & 7;
  return {warp % T::warps_m * 4 * T::tm + 4 * lane_row,
          warp / T::warps_m * 8 * T::tn + 4 * lane_column};
}

/// One step along k: the words that a thread needs from both slabs.
template <typename T>
struct Fragment {
  float a[T::tm], b[T::tn];

  __device__ __forceinline__ void load(const float* slab, Place place, int e) {
    const float* as = slab + e * T::a_pitch + place.row;
    const float* bs = slab + T::a_floats + e * T::columns + place.column;
#pragma unroll
    for (int i = 0; i < T::tm; i += 4) {
      const float4 v = *reinterpret_cast<const float4*>(as + 4 * i);  // pieces are 16 rows apart
      a[i] = v.x, a[i + 1] = v.y, a[i + 2] = v.z, a[i + 3] = v.w;
    }
#pragma unroll
    for (int j = 0; j < T::tn; j += 4) {
      const float4 v = *reinterpret_cast<const float4*>(bs + 8 * j);  // and 32 columns
      b[j] = v.x, b[j + 1] = v.y, b[j + 2] = v.z, b[j + 3] = v.w;
    }
  }
};

/// Writes those of four neighbours of a row of C that lie inside (m, n), as one vector if C is
/// aligned for it.
__device__ __forceinline__ void store_four(const MatmulArgs& p, bool vectors, int row, int column,
                                           float4 four) {
  if (row >= p.m) return;
  float* to = p.c + row * p.ldc + column;
  if (vectors && column + 3 < p.n) {
    *reinterpret_cast<float4*>(to) = four;
  } else {
    if (column < p.n) to[0] = four.x;
    if (column + 1 < p.n) to[1] = four.y;
    if (column + 2 < p.n) to[2] = four.z;
    if (column + 3 < p.n) to[3] = four.w;
  }
}

/// Shared memory in which a warp exchanges 16×32 outputs, for store_rows.
constexpr int stage_pitch = 36, stage_floats = 16 * stage_pitch;  // no bank conflicts

/// The thread's outputs. It goes back and forth along the shorter side, so that neighbouring
/// multiply-adds share an operand: two register banks deliver two operands per cycle, one too few,
/// and the operand-reuse cache supplies the third.
template <typename T>
struct Outputs {
  float c[T::tm][T::tn] = {};

  __device__ __forceinline__ void add(const Fragment<T>& f) {
    constexpr int outer = T::tn > T::tm ? T::tn : T::tm;
    constexpr int inner = T::tn > T::tm ? T::tm : T::tn;
#pragma unroll
    for (int s = 0; s < outer; ++s)
#pragma unroll
      for (int t = 0; t < inner; ++t) {
        const int back_and_forth = s % 2 ? inner - 1 - t : t;
        const int i = T::tn > T::tm ? back_and_forth : s;
        const int j = T::tn > T::tm ? s : back_and_forth;
        c[i][j] = fmaf(f.a[i], f.b[j], c[i][j]);
      }
  }

  /// Writes the outputs inside (m, n), four words at a time if C is aligned for it.
  __device__ __forceinline__ void store(const MatmulArgs& p, bool vectors, int row0, int column0) {
#pragma unroll
    for (int i = 0; i < T::tm; ++i)
#pragma unroll
      for (int j = 0; j < T::tn; j += 4)
        store_four(p, vectors, row0 + i / 4 * 16 + i % 4, column0 + 8 * j,
                   make_float4(c[i][j], c[i][j + 1], c[i][j + 2], c[i][j + 3]));
  }

  /// As `store`, for a C that is not aligned for vectors: 32 neighbours of a row at a time. Word by
  /// word from each lane, L2 would have to take four times as many sectors.
  __device__ __forceinline__ void store_rows(const MatmulArgs& p, float* stage, int lane,
                                             Place first) {
    const Place at = place_in_tile<T>(0, lane);
    float* to = stage + at.row * stage_pitch + at.column;
#pragma unroll
    for (int i = 0; i < T::tm; i += 4)
#pragma unroll
      for (int j = 0; j < T::tn; j += 4) {
        __syncwarp();
#pragma unroll
        for (int r = 0; r < 4; ++r)
          *reinterpret_cast<float4*>(to + r * stage_pitch) =
              make_float4(c[i + r][j], c[i + r][j + 1], c[i + r][j + 2], c[i + r][j + 3]);
        __syncwarp();
        const int row = first.row - at.row + 4 * i;
        const int column = first.column - at.column + 8 * j + lane;
        float* c_row = p.c + row * p.ldc + column;
#pragma unroll
        for (int r = 0; r < 16; ++r)
          if (row + r < p.m && column < p.n) c_row[r * p.ldc] = stage[r * stage_pitch + lane];
      }
  }
};

/// Tiles in an order that walks down eight rows of tiles before the next column: the blocks that
/// run at the same time then share their slabs of A and B in L2.
template <typename T>
__device__ __forceinline__ Place place_of_tile(const MatmulArgs& p, int tile) {
  constexpr int group = 8;
  const int tiles_m = (p.m + T::rows - 1) / T::rows, tiles_n = (p.n + T::columns - 1) / T::columns;
  const int first = tile / (group * tiles_n) * group, in_group = tile % (group * tiles_n);
  const int height = min(group, tiles_m - first);
  return {(first + in_group % height) * T::rows, in_group / height * T::columns};
}

template <typename T>
int tiles(const MatmulArgs& p) {
  return ((p.m + T::rows - 1) / T::rows) * ((p.n + T::columns - 1) / T::columns);
}

/// Whether a product moves whole vectors: of A along k, of B and C along n.
inline bool all_on_vectors(const MatmulArgs& p) {
  return p.n % 4 == 0 && p.k % 4 == 0 && on_vectors(p.a, p.lda) && on_vectors(p.b, p.ldb) &&
         on_vectors(p.c, p.ldc);
}

/// Adds all of k to the thread's outputs, slab by slab, copied to `slab` in shared memory.
template <typename T, bool vectors>
__device__ __forceinline__ void multiply(const MatmulArgs& p, const Place& tile, const Place& mine,
                                         float* slab, Outputs<T>& outputs) {
  for (int k0 = 0; k0 < p.k; k0 += T::depth) {
    // as in vectorized.cu: four words along k of A, stored transposed, four along n of B
#pragma unroll
    for (int i = threadIdx.x; i < T::rows * T::depth / 4; i += T::threads) {
      const int r = i / (T::depth / 4), e = i % (T::depth / 4) * 4, row = tile.row + r;
      const float* from = p.a + row * p.lda + k0 + e;
      float4 v = {0, 0, 0, 0};
      if (row < p.m) {
        if constexpr (vectors) {
          if (k0 + e < p.k) v = *reinterpret_cast<const float4*>(from);
        } else {
          if (k0 + e < p.k) v.x = from[0];
          if (k0 + e + 1 < p.k) v.y = from[1];
          if (k0 + e + 2 < p.k) v.z = from[2];
          if (k0 + e + 3 < p.k) v.w = from[3];
        }
      }
      float* to = slab + e * T::a_pitch + r;
      to[0] = v.x, to[T::a_pitch] = v.y, to[2 * T::a_pitch] = v.z, to[3 * T::a_pitch] = v.w;
    }
    constexpr int width = vectors ? 4 : 1;
#pragma unroll
    for (int i = threadIdx.x; i < T::depth * T::columns / width; i += T::threads) {
      const int e = i / (T::columns / width), c = i % (T::columns / width) * width;
      const bool inside = k0 + e < p.k && tile.column + c < p.n;
      const float* from = p.b + (k0 + e) * p.ldb + tile.column + c;
      float* to = slab + T::a_floats + e * T::columns + c;
      if constexpr (vectors)
        *reinterpret_cast<float4*>(to) =
            inside ? *reinterpret_cast<const float4*>(from) : make_float4(0, 0, 0, 0);
      else
        *to = inside ? *from : 0.0f;
    }
    __syncthreads();

    Fragment<T> fragment[2];
    fragment[0].load(slab, mine, 0);
#pragma unroll
    for (int e = 0; e < T::depth; ++e) {
      if (e + 1 < T::depth) fragment[(e + 1) % 2].load(slab, mine, e + 1);
      outputs.add(fragment[e % 2]);
    }
    __syncthreads();
  }
}

}  // namespace recheck::kernels::matmul
