// SPDX-License-Identifier: Apache-2.0
#pragma once

// The last rows and columns of C, if they are so few that a tile of them would be nearly empty: at
// 1025³ tiles of 128×128 hold a quarter more outputs than C. A kernel without tiles computes them:
// 32 columns, or 32 rows, for each block. It takes about as long as reading A and B.

#include <cuda_runtime.h>

#include "../../launch.hpp"
#include "../hopper.cuh"
#include "matmul.hpp"

namespace recheck::kernels::matmul {

constexpr int most_edge = 4;  // rows, and columns; more have enough work for a tile

struct Edges {
  int rows, columns;
  bool any() const { return rows + columns > 0; }

  /// The product without them.
  MatmulArgs rest_of(MatmulArgs p) const {
    p.m -= rows, p.n -= columns;
    return p;
  }
};

/// Those of a product in tiles of T::rows×T::columns. A tile is left over.
template <typename T>
Edges edges_of(const MatmulArgs& p) {
  const auto edge = [](int extent, int tile) {
    return extent > tile && extent % tile <= most_edge ? extent % tile : 0;
  };
  return {edge(p.m, T::rows), edge(p.n, T::columns)};
}

constexpr int edge_warps = 32, edge_threads = 32 * edge_warps, edge_words = 2048;

/// The rows from `first` on, in the block's 32 columns. The warps take k in turn, and their sums
/// are added in order.
__device__ inline void rows_of_edge(const MatmulArgs& p, int first, int rows, int block,
                                    float* sums) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = block * 32 + lane;
  const float* a = p.a + first * p.lda;
  const float* b = p.b + min(column, p.n - 1);
  float sum[most_edge] = {};
#pragma unroll 8
  for (int k = warp; k < p.k; k += edge_warps) {
    const float word = b[k * p.ldb];
#pragma unroll
    for (int r = 0; r < most_edge; ++r)
      if (r < rows) sum[r] = fmaf(a[r * p.lda + k], word, sum[r]);
  }
#pragma unroll
  for (int r = 0; r < most_edge; ++r) sums[r * edge_threads + threadIdx.x] = sum[r];
  __syncthreads();
  if (warp >= rows || column >= p.n) return;
  float total = 0;
  for (int w = 0; w < edge_warps; ++w) total += sums[warp * edge_threads + w * 32 + lane];
  p.c[(first + warp) * p.ldc + column] = total;
}

/// The columns from `first` on, in the block's 32 rows of the first `m`, a warp for each. Their
/// words of B go through shared memory, as they are far apart.
__device__ inline void columns_of_edge(const MatmulArgs& p, int first, int columns, int m,
                                       int block, float* words) {
  const int lane = threadIdx.x % 32, row = block * edge_warps + threadIdx.x / 32;
  const float* a = p.a + min(row, m - 1) * p.lda;
  float sum[most_edge] = {};
  for (int k0 = 0; k0 < p.k; k0 += edge_words) {
    const int deep = min(edge_words, p.k - k0);
    __syncthreads();
    for (int i = threadIdx.x; i < deep * columns; i += edge_threads)
      words[i % columns * edge_words + i / columns] =
          p.b[(k0 + i / columns) * p.ldb + first + i % columns];
    __syncthreads();
#pragma unroll 8
    for (int k = lane; k < deep; k += 32) {
      const float word = a[k0 + k];
#pragma unroll
      for (int c = 0; c < most_edge; ++c)
        if (c < columns) sum[c] = fmaf(word, words[c * edge_words + k], sum[c]);
    }
  }
#pragma unroll
  for (int c = 0; c < most_edge; ++c) {
    for (int apart = 16; apart > 0; apart /= 2) sum[c] += __shfl_down_sync(~0u, sum[c], apart);
    if (lane == 0 && row < m && c < columns) p.c[row * p.ldc + first + c] = sum[c];
  }
}

static __global__ void __launch_bounds__(edge_threads)
    edges_kernel(MatmulArgs p, Edges edges, int blocks_of_rows) {
  __shared__ float words[most_edge * edge_words];
  hopper::griddepcontrol_launch_dependents();
  const int block = static_cast<int>(blockIdx.x), m = p.m - edges.rows;
  if (block < blocks_of_rows)
    rows_of_edge(p, m, edges.rows, block, words);
  else
    columns_of_edge(p, p.n - edges.columns, edges.columns, m, block - blocks_of_rows, words);
  hopper::griddepcontrol_wait();  // what waits for this kernel waits for the previous one, too
}

/// Stores the edges of C; `behind`: launched behind the stream's previous kernel, which writes none
/// of A, B and C. The next kernel may be launched behind this one.
inline void compute_edges(const MatmulArgs& p, const Edges& edges, bool behind,
                          cudaStream_t stream) {
  const int across = (p.n + 31) / 32, down = (p.m - edges.rows + edge_warps - 1) / edge_warps;
  const int rows = edges.rows > 0 ? across : 0, columns = edges.columns > 0 ? down : 0;
  launch_with({.behind = behind}, edges_kernel, dim3(rows + columns), edge_threads, 0, stream, p,
              edges, rows);
}

}  // namespace recheck::kernels::matmul
