// SPDX-License-Identifier: Apache-2.0
//
// The fallback of a split product when its guard is raised: a register-tiled product in IEEE fp32.
// It is always launched after the split product, and returns at once unless a word in device memory
// says that the guard was raised, so that the host need not wait for that word. Each of 256 threads
// computes 8×8 elements of a 128×128 tile.

#include "../../launch.hpp"
#include "../hopper.cuh"
#include "split_fallback.hpp"

namespace recheck::kernels::matmul {
namespace {

constexpr int edge = 128, depth = 8, threads = 256;

__global__ void __launch_bounds__(threads, 2) fallback(MatmulArgs p, const unsigned* raised) {
  hopper::griddepcontrol_wait();
  if (raised && !*raised) return;
  __shared__ float a[depth][edge + 4], b[depth][edge];
  const int tiles_n = (p.n + edge - 1) / edge;
  const std::int64_t tiles = static_cast<std::int64_t>((p.m + edge - 1) / edge) * tiles_n;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int top = static_cast<int>(t / tiles_n) * edge;
    const int left = static_cast<int>(t % tiles_n) * edge;
    float sum[8][8] = {};
    for (int k = 0; k < p.k; k += depth) {
      __syncthreads();
#pragma unroll
      for (int i = threadIdx.x; i < edge * depth; i += threads) {
        const int row = i / depth, inner = i % depth;
        a[inner][row] =
            top + row < p.m && k + inner < p.k ? p.a[(top + row) * p.lda + k + inner] : 0.0f;
      }
#pragma unroll
      for (int i = threadIdx.x; i < edge * depth; i += threads) {
        const int inner = i / edge, column = i % edge;
        b[inner][column] = left + column < p.n && k + inner < p.k
                               ? p.b[(k + inner) * p.ldb + left + column]
                               : 0.0f;
      }
      __syncthreads();
      // nothing is multiplied beyond k: 0·Inf would be NaN
      const int steps = min(depth, p.k - k);
      for (int inner = 0; inner < steps; ++inner) {
        float u[8], v[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) u[i] = a[inner][y * 4 + i % 4 + i / 4 * 64];
#pragma unroll
        for (int j = 0; j < 8; ++j) v[j] = b[inner][x * 4 + j % 4 + j / 4 * 64];
#pragma unroll
        for (int i = 0; i < 8; ++i)
#pragma unroll
          for (int j = 0; j < 8; ++j) sum[i][j] = fmaf(u[i], v[j], sum[i][j]);
      }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int row = top + y * 4 + i % 4 + i / 4 * 64;
      if (row >= p.m) continue;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const int column = left + x * 4 + j % 4 + j / 4 * 64;
        if (column < p.n) p.c[row * p.ldc + column] = sum[i][j];
      }
    }
  }
}

}  // namespace

void ieee_if(const unsigned* raised, const MatmulArgs& p, cudaStream_t stream) {
  const std::int64_t tiles =
      static_cast<std::int64_t>((p.m + edge - 1) / edge) * ((p.n + edge - 1) / edge);
  if (tiles == 0) return;
  constexpr std::int64_t most = 264;  // two blocks for each of 132 multiprocessors
  const auto blocks = static_cast<unsigned>(tiles < most ? tiles : most);
  if (raised)
    launch_behind(fallback, blocks, threads, 0, stream, p, raised);
  else  // it comes first, and the previous kernel may be of any kind
    launch_with({}, fallback, dim3(blocks), threads, 0, stream, p, raised);
}

}  // namespace recheck::kernels::matmul
