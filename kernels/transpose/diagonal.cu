// SPDX-License-Identifier: Apache-2.0
//
// Blocks that run at the same time take tiles along a diagonal instead of along a row. On the GTX
// 200 series a column of tiles lay in one or two partitions of memory and queued there; since Fermi
// addresses are hashed over the partitions. Source: SDK transposeNew, "diagonal transpose" (A17).

#include "tile.cuh"

namespace recheck::kernels::transpose {
namespace {

__global__ void diagonal_kernel(TransposeArgs p) {
  __shared__ float tile[tile_size][tile_size + 1];
  unsigned tile_row, tile_column;
  if (gridDim.x == gridDim.y) {
    tile_row = blockIdx.x;
    tile_column = (blockIdx.x + blockIdx.y) % gridDim.x;
  } else {
    const std::int64_t block = blockIdx.x + std::int64_t{gridDim.x} * blockIdx.y;
    tile_row = static_cast<unsigned>(block % gridDim.y);
    tile_column = static_cast<unsigned>((block / gridDim.y + tile_row) % gridDim.x);
  }
  carry_tile<true, true>(p, tile, tile_row, tile_column);
}

}  // namespace

void diagonal(const TransposeArgs& args, cudaStream_t stream) {
  launch_tiles<diagonal_kernel>(args, stream);
}

}  // namespace recheck::kernels::transpose
