// SPDX-License-Identifier: Apache-2.0
//
// A tile in shared memory lets a warp read along rows of in and write along rows of out. The
// remaining cost is the tile's column, whose 32 words all lie in one bank. Source: SDK
// transposeNew, "coalesced transpose" (A17).

#include "tile.cuh"

namespace recheck::kernels::transpose {
namespace {

__global__ void coalesced_kernel(TransposeArgs p) {
  __shared__ float tile[tile_size][tile_size];
  carry_tile<true, true>(p, tile, blockIdx.y, blockIdx.x);
}

}  // namespace

void coalesced(const TransposeArgs& args, cudaStream_t stream) {
  launch_tiles<coalesced_kernel>(args, stream);
}

}  // namespace recheck::kernels::transpose
