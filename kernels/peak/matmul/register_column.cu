// SPDX-License-Identifier: Apache-2.0
//
// A column of outputs per thread. In tile.cu a multiply-add costs two loads from shared memory, one
// of A and one of B, and these loads are the bottleneck. Here a thread keeps `column` sums of one
// column of C in registers. An element of B, once in a register, serves them all, and loads per
// multiply-add fall from 2 to 1 + 1/column. Since the threads of a warp sit side by side along n,
// they all need the same element of A: one broadcast. The tile is tile×tile as before, but only
// `depth` deep, and there are tile·tile/column threads. Source: "1-D thread tiling", as common in
// GEMM tutorials since Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra", SC
// 2008.

#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

template <int tile, int depth, int column>
__global__ void __launch_bounds__(tile* tile / column) register_column_kernel(MatmulArgs p) {
  constexpr int threads = tile * tile / column;
  __shared__ float as[tile][depth];
  __shared__ float bs[depth][tile];

  const int row0 = blockIdx.y * tile, col0 = blockIdx.x * tile;
  const int tx = threadIdx.x % tile;           // column of C in the tile
  const int ty = threadIdx.x / tile * column;  // the first of its rows

  float sum[column] = {};
  for (int k0 = 0; k0 < p.k; k0 += depth) {
    // the threads take turns, as the number of elements to stage may differ from theirs; zeros
    // outside
    for (int i = threadIdx.x; i < tile * depth; i += threads) {
      const int row = row0 + i / depth, ka = k0 + i % depth;
      as[i / depth][i % depth] = row < p.m && ka < p.k ? p.a[row * p.lda + ka] : 0.0f;
      const int kb = k0 + i / tile, col = col0 + i % tile;
      bs[i / tile][i % tile] = kb < p.k && col < p.n ? p.b[kb * p.ldb + col] : 0.0f;
    }
    __syncthreads();

#pragma unroll
    for (int e = 0; e < depth; ++e) {
      const float b = bs[e][tx];  // loaded once, used `column` times
#pragma unroll
      for (int i = 0; i < column; ++i) sum[i] += as[ty + i][e] * b;
    }
    __syncthreads();
  }

  const int col = col0 + tx;
#pragma unroll
  for (int i = 0; i < column; ++i) {
    const int row = row0 + ty + i;
    if (row < p.m && col < p.n) p.c[row * p.ldc + col] = sum[i];
  }
}

}  // namespace

template <int tile, int depth, int column>
void register_column(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  const dim3 grid((args.n + tile - 1) / tile, (args.m + tile - 1) / tile);
  register_column_kernel<tile, depth, column><<<grid, tile * tile / column, 0, stream>>>(args);
}

template void register_column<64, 8, 8>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
