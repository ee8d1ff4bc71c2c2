// SPDX-License-Identifier: Apache-2.0
//
// Four words at a time. The threads of register_tile.cu move single words: from global memory, to
// and from shared memory, to C. Here each of these is one 16-byte access, which takes a quarter of
// the instructions and frees issue slots for multiply-adds. For this a thread's rows and columns
// come in groups of four neighbours. A's slab is stored transposed (depth, tile), with rows four
// words apart so that transposing meets no bank conflict. Source: Nervana's maxas SGEMM notes
// (Gray, 2014); CUTLASS's SIMT kernels.
//
// Sixteen-byte accesses need aligned bases, and leading dimensions and m×n×k divisible by four;
// otherwise the same kernel stages and stores word by word.

#include "../vectors.hpp"
#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

/// Four neighbours of row `row`, beginning at `col`; zeros outside (rows, cols).
template <bool vectors>
__device__ float4 load4(const float* x, std::int64_t ld, int row, int col, int rows, int cols) {
  float4 v = {0, 0, 0, 0};
  if (row >= rows) return v;
  const float* from = x + row * ld + col;
  if constexpr (vectors) {
    if (col < cols) v = *reinterpret_cast<const float4*>(from);
  } else {
    if (col < cols) v.x = from[0];
    if (col + 1 < cols) v.y = from[1];
    if (col + 2 < cols) v.z = from[2];
    if (col + 3 < cols) v.w = from[3];
  }
  return v;
}

template <int tile, int depth, bool vectors>
__global__ void __launch_bounds__(tile* tile / 64) vectorized_kernel(MatmulArgs p) {
  constexpr int side = 8, across = tile / side, threads = across * across;
  __shared__ alignas(16) float as[depth][tile + 4];  // transposed
  __shared__ alignas(16) float bs[depth][tile];

  const int row0 = blockIdx.y * tile, col0 = blockIdx.x * tile;
  const int tx = threadIdx.x % across * 4, ty = threadIdx.x / across * 4;

  float sum[side][side] = {};
  for (int k0 = 0; k0 < p.k; k0 += depth) {
#pragma unroll
    for (int i = threadIdx.x; i < tile * depth / 4; i += threads) {
      const int ra = i / (depth / 4), ea = i % (depth / 4) * 4;
      const float4 a = load4<vectors>(p.a, p.lda, row0 + ra, k0 + ea, p.m, p.k);
      as[ea][ra] = a.x, as[ea + 1][ra] = a.y, as[ea + 2][ra] = a.z, as[ea + 3][ra] = a.w;
      const int eb = i / (tile / 4), cb = i % (tile / 4) * 4;
      *reinterpret_cast<float4*>(&bs[eb][cb]) =
          load4<vectors>(p.b, p.ldb, k0 + eb, col0 + cb, p.k, p.n);
    }
    __syncthreads();

#pragma unroll
    for (int e = 0; e < depth; ++e) {
      float a[side], b[side];  // two groups of four, half a tile apart
#pragma unroll
      for (int g = 0; g < side; g += 4) {
        *reinterpret_cast<float4*>(a + g) =
            *reinterpret_cast<const float4*>(&as[e][ty + g * across]);
        *reinterpret_cast<float4*>(b + g) =
            *reinterpret_cast<const float4*>(&bs[e][tx + g * across]);
      }
#pragma unroll
      for (int i = 0; i < side; ++i)
#pragma unroll
        for (int j = 0; j < side; ++j) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < side; ++i) {
    const int row = row0 + ty + i / 4 * 4 * across + i % 4;
    if (row >= p.m) continue;
#pragma unroll
    for (int g = 0; g < side; g += 4) {
      const int col = col0 + tx + g * across;
      float* to = p.c + row * p.ldc + col;
      if constexpr (vectors) {
        if (col < p.n)
          *reinterpret_cast<float4*>(to) =
              make_float4(sum[i][g], sum[i][g + 1], sum[i][g + 2], sum[i][g + 3]);
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          if (col + j < p.n) to[j] = sum[i][g + j];
      }
    }
  }
}

}  // namespace

template <int tile, int depth>
void vectorized(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  const bool vectors = args.n % 4 == 0 && args.k % 4 == 0 && on_vectors(args.a, args.lda) &&
                       on_vectors(args.b, args.ldb) && on_vectors(args.c, args.ldc);
  const auto kernel =
      vectors ? vectorized_kernel<tile, depth, true> : vectorized_kernel<tile, depth, false>;
  const dim3 grid((args.n + tile - 1) / tile, (args.m + tile - 1) / tile);
  kernel<<<grid, tile * tile / 64, 0, stream>>>(args);
}

template void vectorized<128, 8>(const MatmulArgs&, cudaStream_t);
template void vectorized<128, 16>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
