// SPDX-License-Identifier: Apache-2.0
#pragma once

// What NVIDIA's kernels share: a block's tile, and the two ways of moving it between global and
// shared memory. Each of the 32×8 threads moves four elements, eight rows apart.

#include "transpose.hpp"

namespace recheck::kernels::transpose {

inline constexpr int tile_size = 32, block_rows = 8;

/// Loads in's tile at (row, column), in elements, into shared memory; 0 outside the matrix.
template <int stride>
__device__ void load_tile(const TransposeArgs& p, float (&tile)[tile_size][stride],
                          std::int64_t row, std::int64_t column) {
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  for (int i = ty; i < tile_size; i += block_rows) {
    const bool inside = row + i < p.rows && column + tx < p.columns;
    tile[i][tx] = inside ? p.in[(row + i) * p.ldin + column + tx] : 0.0f;
  }
}

/// Stores the tile at (row, column) of out, which has `rows` rows and `columns` columns, transposed
/// or unchanged.
template <bool transposed, int stride>
__device__ void store_tile(const TransposeArgs& p, const float (&tile)[tile_size][stride],
                           std::int64_t row, std::int64_t column, int rows, int columns) {
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  for (int i = ty; i < tile_size; i += block_rows)
    if (row + i < rows && column + tx < columns)
      p.out[(row + i) * p.ldout + column + tx] = transposed ? tile[tx][i] : tile[i][tx];
}

/// Carries the tile at (tile_row, tile_column), in tiles, from in to out through `tile`. If
/// `moved`, it goes to (tile_column, tile_row); if `turned`, it is itself transposed. A
/// transposition does both.
template <bool moved, bool turned, int stride>
__device__ void carry_tile(const TransposeArgs& p, float (&tile)[tile_size][stride],
                           unsigned tile_row, unsigned tile_column) {
  const std::int64_t row = std::int64_t{tile_row} * tile_size;
  const std::int64_t column = std::int64_t{tile_column} * tile_size;
  for (int repeat = 0; repeat < p.repeats; ++repeat) {
    if (repeat > 0) __syncthreads();  // the tile may be overwritten
    load_tile(p, tile, row, column);
    __syncthreads();  // the tile is whole
    if constexpr (moved)
      store_tile<turned>(p, tile, column, row, p.columns, p.rows);
    else
      store_tile<turned>(p, tile, row, column, p.rows, p.columns);
  }
}

/// One block per tile of in.
template <auto kernel>
void launch_tiles(const TransposeArgs& p, cudaStream_t stream) {
  if (p.rows == 0 || p.columns == 0) return;
  const dim3 grid((p.columns - 1) / tile_size + 1, (p.rows - 1) / tile_size + 1);
  kernel<<<grid, dim3(tile_size, block_rows), 0, stream>>>(p);
}

}  // namespace recheck::kernels::transpose
