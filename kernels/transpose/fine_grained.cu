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
  carry_tile<false, true>(p, tile, blockIdx.y, blockIdx.x);
}

}  // namespace

void fine_grained(const TransposeArgs& args, cudaStream_t stream) {
  launch_tiles<fine_grained_kernel>(args, stream);
}

}  // namespace recheck::kernels::transpose
