// SPDX-License-Identifier: Apache-2.0
//
// Warps share k. In k_stretches.cu a product with few outputs takes a second launch, which adds the
// sums of many blocks, and a block meets at two barriers for each slab. Here each of the eight
// warps of a block multiplies the block's whole tile by every eighth slab of k, copied ahead with
// cp.async to slots of its own, so that no warp waits for another before the end. Then their sums
// are added in shared memory, in their order, so that every run leaves the same bits: one launch,
// and no workspace. Where k is so deep that one block takes long, `blocks` lets several share it:
// with a second launch after all, but with an eighth of the sums. Source: "sliced-K" in CUTLASS.

#include "k_warps.cuh"

namespace recheck::kernels::matmul {

template <int lanes_m, int tm, int tn, int blocks>
void k_warps(const MatmulArgs& args, const Queue& queue) {
  // older code than that for 9.0 cannot wait for a kernel that it overlaps with
  share_k<SharedK<lanes_m, tm, tn>, 1, blocks, false>(args, queue);
}

template void k_warps<4, 4, 4, 0>(const MatmulArgs&, const Queue&);
template void k_warps<16, 4, 4, 0>(const MatmulArgs&, const Queue&);
template void k_warps<4, 4, 4, 256>(const MatmulArgs&, const Queue&);
template void k_warps<16, 4, 4, 256>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
