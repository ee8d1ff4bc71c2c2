// SPDX-License-Identifier: Apache-2.0
//
// A shallow k. A product that is the sum of a few outer products is bound by the writing of C,
// whose rows need not start on 16 bytes. From vectorized.cu on a thread has neighbouring outputs;
// where it cannot store four at once, a warp stores words that lie apart, and each line several
// times. Here a thread's columns are 32 apart, so that a warp reads 32 neighbours of B and stores
// 32 neighbours of C, wherever rows start. B goes straight to registers; what all lanes need at
// once, A, is in shared memory. Source: CUDA C++ Best Practices Guide, "Coalesced access to global
// memory".

#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

constexpr int warps = 8;

template <int tm, int tn, int depth>
__global__ void __launch_bounds__(32 * warps, 3) outer_kernel(MatmulArgs p, int tiles_n) {
  constexpr int rows = warps * tm, columns = 32 * tn;
  static_assert(depth % 4 == 0 && rows * depth % (32 * warps) == 0);
  __shared__ alignas(16) float slab[rows][depth];
  const int tid = static_cast<int>(threadIdx.x), tile = static_cast<int>(blockIdx.x);
  const int first = tile / tiles_n * rows, warp = tid / 32;
  const int column = tile % tiles_n * columns + tid % 32;

  const int ak = tid % depth, ar = first + tid / depth;  // what it copies of A
  const float* a = p.a + ar * p.lda + ak;
  const float* b = p.b + column;

  float c[tm][tn] = {};
#pragma unroll 1
  for (int k0 = 0; k0 < p.k; k0 += depth) {
    float own[depth][tn];
#pragma unroll
    for (int e = 0; e < depth; ++e) {
#pragma unroll
      for (int j = 0; j < tn; ++j)
        own[e][j] = k0 + e < p.k && column + 32 * j < p.n ? b[32 * j] : 0.0f;
      b += p.ldb;
    }
#pragma unroll
    for (int r = 0; r < rows; r += 32 * warps / depth)
      slab[tid / depth + r][ak] = ar + r < p.m && k0 + ak < p.k ? a[r * p.lda] : 0.0f;
    a += depth;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < tm; ++i)
#pragma unroll
      for (int e = 0; e < depth; e += 4) {
        const float4 v = *reinterpret_cast<const float4*>(&slab[warp * tm + i][e]);
#pragma unroll
        for (int j = 0; j < tn; ++j) {
          c[i][j] = fmaf(v.x, own[e][j], c[i][j]);
          c[i][j] = fmaf(v.y, own[e + 1][j], c[i][j]);
          c[i][j] = fmaf(v.z, own[e + 2][j], c[i][j]);
          c[i][j] = fmaf(v.w, own[e + 3][j], c[i][j]);
        }
      }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < tm; ++i) {
    const int row = first + warp * tm + i;
    float* to = p.c + row * p.ldc + column;
#pragma unroll
    for (int j = 0; j < tn; ++j)
      if (row < p.m && column + 32 * j < p.n) to[32 * j] = c[i][j];
  }
}

}  // namespace

template <int tm, int tn, int depth>
void outer(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  constexpr int rows = warps * tm, columns = 32 * tn;
  const int tiles_m = (args.m + rows - 1) / rows, tiles_n = (args.n + columns - 1) / columns;
  outer_kernel<tm, tn, depth>
      <<<static_cast<unsigned>(tiles_m * tiles_n), 32 * warps, 0, stream>>>(args, tiles_n);
}

template void outer<8, 4, 4>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
