// SPDX-License-Identifier: Apache-2.0
//
// The copy through shared memory, with a barrier: the cost of the detour when it has no use.
// Source: SDK transposeNew, "shared memory copy" (A17).

#include "tile.cuh"

namespace recheck::kernels::transpose {
namespace {

__global__ void copy_shared_kernel(TransposeArgs p) {
  __shared__ float tile[tile_size][tile_size];
  carry_tile<false, false>(p, tile, blockIdx.y, blockIdx.x);
}

}  // namespace

void copy_shared(const TransposeArgs& args, cudaStream_t stream) {
  launch_tiles<copy_shared_kernel>(args, stream);
}

}  // namespace recheck::kernels::transpose
