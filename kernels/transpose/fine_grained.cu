// SPDX-License-Identifier: Apache-2.0
//
// The other half: tiles are transposed inside and stay where a copy would put them. S3 lists it
// among the transpositions, and as the fastest (C59). Source: SDK transposeNew, "fine-grained"
// (A17).

#include "tile.cuh"

namespace recheck::kernels::transpose {
namespace {

__global__ void fine_grained_kernel(TransposeArgs p) {
  __shared__ float tile[tile_size][tile_size + 1];
  const std::int64_t row = std::int64_t{blockIdx.y} * tile_size;
  const std::int64_t column = std::int64_t{blockIdx.x} * tile_size;
  for (int repeat = 0; repeat < p.repeats; ++repeat) {
    if (repeat > 0) __syncthreads();  // nobody reads the tile any more
    load_tile(p, tile, row, column);
    __syncthreads();  // the tile is whole
    store_tile<true>(p, tile, row, column, p.rows, p.columns);
  }
}

}  // namespace

void fine_grained(const TransposeArgs& args, cudaStream_t stream) {
  launch_tiles<fine_grained_kernel>(args, stream);
}

}  // namespace recheck::kernels::transpose
