// SPDX-License-Identifier: Apache-2.0
//
// The copy once more, by way of shared memory and a barrier: what the detour costs when it has no
// use. Source: SDK transposeNew, "shared memory copy" (A17).

#include "tile.cuh"

namespace recheck::kernels::transpose {
namespace {

__global__ void copy_shared_kernel(TransposeArgs p) {
  __shared__ float tile[tile_size][tile_size];
  const std::int64_t row = std::int64_t{blockIdx.y} * tile_size;
  const std::int64_t column = std::int64_t{blockIdx.x} * tile_size;
  for (int repeat = 0; repeat < p.repeats; ++repeat) {
    if (repeat > 0) __syncthreads();  // nobody reads the tile any more
    load_tile(p, tile, row, column);
    __syncthreads();  // the tile is whole
    store_tile<false>(p, tile, row, column, p.rows, p.columns);
  }
}

}  // namespace

void copy_shared(const TransposeArgs& args, cudaStream_t stream) {
  launch_tiles<copy_shared_kernel>(args, stream);
}

}  // namespace recheck::kernels::transpose
