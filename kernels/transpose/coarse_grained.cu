// SPDX-License-Identifier: Apache-2.0
//
// Half a transposition, to find out which half costs: tiles go to their transposed places, but not
// transposed inside. Source: SDK transposeNew, "coarse-grained" (A17), whose own comment says that
// it would fail the test.

#include "tile.cuh"

namespace recheck::kernels::transpose {
namespace {

__global__ void coarse_grained_kernel(TransposeArgs p) {
  __shared__ float tile[tile_size][tile_size + 1];
  const std::int64_t row = std::int64_t{blockIdx.y} * tile_size;
  const std::int64_t column = std::int64_t{blockIdx.x} * tile_size;
  for (int repeat = 0; repeat < p.repeats; ++repeat) {
    if (repeat > 0) __syncthreads();  // nobody reads the tile any more
    load_tile(p, tile, row, column);
    __syncthreads();  // the tile is whole
    store_tile<false>(p, tile, column, row, p.columns, p.rows);
  }
}

}  // namespace

void coarse_grained(const TransposeArgs& args, cudaStream_t stream) {
  launch_tiles<coarse_grained_kernel>(args, stream);
}

}  // namespace recheck::kernels::transpose
