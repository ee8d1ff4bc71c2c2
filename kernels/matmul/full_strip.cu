// SPDX-License-Identifier: Apache-2.0
//
// An answer to the question in S2's listing: why not keep the whole height and width in shared
// memory instead of one tile at a time? A block stages all of its tile×k strip of A and k×tile
// strip of B, meets one barrier, and multiplies. Traffic from global memory is that of the tile.
// Shared memory grows with k (128 bytes per unit of k at tile 16), so fewer blocks fit on a
// multiprocessor, and none beyond the opt-in limit. Source: S2, comment in the second MatMulKernel
// (A09).

#include "../launch.hpp"
#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

template <int tile>
__global__ void __launch_bounds__(tile* tile) full_strip_kernel(MatmulArgs p) {
  extern __shared__ float shared[];
  float* as = shared;               // (tile, k)
  float* bs = shared + tile * p.k;  // (k, tile)

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty;
  const int col = blockIdx.x * tile + tx;
  for (int e = tx; e < p.k; e += tile) as[ty * p.k + e] = row < p.m ? p.a[row * p.lda + e] : 0.0f;
  for (int e = ty; e < p.k; e += tile) bs[e * tile + tx] = col < p.n ? p.b[e * p.ldb + col] : 0.0f;
  __syncthreads();  // nothing overwrites the strips, so one barrier is enough

  float sum = 0;
  for (int e = 0; e < p.k; ++e) sum += as[ty * p.k + e] * bs[e * tile + tx];
  if (row < p.m && col < p.n) p.c[row * p.ldc + col] = sum;
}

}  // namespace

template <int tile_size>
void full_strip(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  const std::int64_t bytes = full_strip_shared_bytes(tile_size, args.k);
  if (!allow_shared(full_strip_kernel<tile_size>, bytes)) return;
  const dim3 grid((args.n + tile_size - 1) / tile_size, (args.m + tile_size - 1) / tile_size);
  full_strip_kernel<tile_size><<<grid, dim3(tile_size, tile_size), bytes, stream>>>(args);
}

template void full_strip<16>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
