// SPDX-License-Identifier: Apache-2.0
//
// Half a transposition, to find out which half costs time: tiles move to their transposed places,
// but are not transposed inside. Source: SDK transposeNew, "coarse-grained" (A17), whose own
// comment says that it would fail the test.

#include "tile.cuh"

namespace recheck::kernels::transpose {
namespace {

__global__ void coarse_grained_kernel(TransposeArgs p) {
  __shared__ float tile[tile_size][tile_size + 1];
  carry_tile<true, false>(p, tile, blockIdx.y, blockIdx.x);
}

}  // namespace

void coarse_grained(const TransposeArgs& args, cudaStream_t stream) {
  launch_tiles<coarse_grained_kernel>(args, stream);
}

}  // namespace recheck::kernels::transpose
