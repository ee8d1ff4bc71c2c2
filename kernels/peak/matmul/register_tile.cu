// SPDX-License-Identifier: Apache-2.0
//
// A square of outputs per thread. register_column.cu reuses an element of B for a whole column, but
// loads an element of A for every multiply-add. With side×side sums in registers, both serve `side`
// times: per step along k a thread loads 2·side elements for side² multiply-adds, 2/side each, so
// that arithmetic rather than shared memory takes most of the issue slots. A thread's rows and
// columns lie tile/side apart: the threads of a warp then read neighbouring words of B's slab and
// write neighbouring words of C. Source: Volkov and Demmel, SC 2008; "2-D thread tiling".

#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

template <int tile, int depth, int side>
__global__ void __launch_bounds__(tile* tile / (side * side)) register_tile_kernel(MatmulArgs p) {
  constexpr int across = tile / side;  // threads along each side of the tile
  constexpr int threads = across * across;
  // A's slab is transposed, so that both are read along a row, and padded, so that at most four
  // threads of a warp write to one bank, not eight
  __shared__ float as[depth][tile + 1];
  __shared__ float bs[depth][tile];

  const int row0 = blockIdx.y * tile, col0 = blockIdx.x * tile;
  const int tx = threadIdx.x % across, ty = threadIdx.x / across;

  float sum[side][side] = {};
  for (int k0 = 0; k0 < p.k; k0 += depth) {
    for (int i = threadIdx.x; i < tile * depth; i += threads) {
      const int row = row0 + i / depth, ka = k0 + i % depth;
      as[i % depth][i / depth] = row < p.m && ka < p.k ? p.a[row * p.lda + ka] : 0.0f;
      const int kb = k0 + i / tile, col = col0 + i % tile;
      bs[i / tile][i % tile] = kb < p.k && col < p.n ? p.b[kb * p.ldb + col] : 0.0f;
    }
    __syncthreads();

#pragma unroll
    for (int e = 0; e < depth; ++e) {
      float a[side], b[side];
#pragma unroll
      for (int i = 0; i < side; ++i) {
        a[i] = as[e][ty + i * across];
        b[i] = bs[e][tx + i * across];
      }
#pragma unroll
      for (int i = 0; i < side; ++i)
#pragma unroll
        for (int j = 0; j < side; ++j) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < side; ++i)
#pragma unroll
    for (int j = 0; j < side; ++j) {
      const int row = row0 + ty + i * across, col = col0 + tx + j * across;
      if (row < p.m && col < p.n) p.c[row * p.ldc + col] = sum[i][j];
    }
}

}  // namespace

template <int tile, int depth, int side>
void register_tile(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  const dim3 grid((args.n + tile - 1) / tile, (args.m + tile - 1) / tile);
  constexpr int threads = tile * tile / (side * side);
  register_tile_kernel<tile, depth, side><<<grid, threads, 0, stream>>>(args);
}

template void register_tile<64, 8, 8>(const MatmulArgs&, cudaStream_t);
template void register_tile<128, 8, 8>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
