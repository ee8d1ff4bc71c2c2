// SPDX-License-Identifier: Apache-2.0
//
// With one word of padding per row of the tile, the 32 words of a column lie in 32 banks. Source:
// SDK transposeNew, "no bank conflict trans" (A17).

#include "tile.cuh"

namespace recheck::kernels::transpose {
namespace {

__global__ void no_bank_conflicts_kernel(TransposeArgs p) {
  __shared__ float tile[tile_size][tile_size + 1];
  carry_tile<true, true>(p, tile, blockIdx.y, blockIdx.x);
}

}  // namespace

void no_bank_conflicts(const TransposeArgs& args, cudaStream_t stream) {
  launch_tiles<no_bank_conflicts_kernel>(args, stream);
}

}  // namespace recheck::kernels::transpose
