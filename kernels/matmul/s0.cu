// SPDX-License-Identifier: Apache-2.0
//
// S0's listing in its own form: square matrices, tiles of 16×16 in two static arrays, int indices,
// no guards. tile.cu is the generalised version; compare the two to see what generality costs.
// Source: S0 section 2 (A07). S0 describes the four-deep form but does not list it (A08): MD (tile,
// 4·tile), ND (4·tile, tile), "the size of shared memory" and "the cyclic conditions" changed. Here
// each thread also loads four elements of each; otherwise part of the tiles would never be loaded.

#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

constexpr int tile_width = 16;

__global__ void tiles_kernel(const float* md, const float* nd, float* pd, int width) {
  __shared__ float mds[tile_width][tile_width];
  __shared__ float nds[tile_width][tile_width];
  const int bx = blockIdx.x, by = blockIdx.y;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = by * tile_width + ty;
  const int col = bx * tile_width + tx;

  float value = 0;
  for (int k = 0; k < width / tile_width; ++k) {
    mds[ty][tx] = md[row * width + k * tile_width + tx];
    nds[ty][tx] = nd[(k * tile_width + ty) * width + col];
    __syncthreads();  // the tiles are whole
    for (int m = 0; m < tile_width; ++m) value += mds[ty][m] * nds[m][tx];
    __syncthreads();  // the tiles may be overwritten
  }
  pd[row * width + col] = value;
}

__global__ void tiles_depth4_kernel(const float* md, const float* nd, float* pd, int width) {
  constexpr int depth = 4, slab = depth * tile_width;
  __shared__ float mds[tile_width][slab];
  __shared__ float nds[slab][tile_width];
  const int bx = blockIdx.x, by = blockIdx.y;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = by * tile_width + ty;
  const int col = bx * tile_width + tx;

  float value = 0;
  for (int k = 0; k < width / slab; ++k) {
    for (int d = 0; d < depth; ++d) {
      const int at = d * tile_width;
      mds[ty][at + tx] = md[row * width + k * slab + at + tx];
      nds[at + ty][tx] = nd[(k * slab + at + ty) * width + col];
    }
    __syncthreads();
    for (int m = 0; m < slab; ++m) value += mds[ty][m] * nds[m][tx];
    __syncthreads();
  }
  pd[row * width + col] = value;
}

template <auto kernel>
void launch(const MatmulArgs& args, cudaStream_t stream) {
  const dim3 grid(args.n / tile_width, args.n / tile_width);
  kernel<<<grid, dim3(tile_width, tile_width), 0, stream>>>(args.a, args.b, args.c, args.n);
}

}  // namespace

void s0_tiles(const MatmulArgs& args, cudaStream_t stream) { launch<tiles_kernel>(args, stream); }

void s0_tiles_depth4(const MatmulArgs& args, cudaStream_t stream) {
  launch<tiles_depth4_kernel>(args, stream);
}

}  // namespace recheck::kernels::matmul
