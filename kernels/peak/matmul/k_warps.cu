// SPDX-License-Identifier: Apache-2.0
//
// Warps share k. A product with few outputs has few tiles, which keep few multiprocessors busy.
// Here each of the eight warps of a block multiplies the block's whole tile by every eighth slab of
// k. It copies its slabs ahead with cp.async to its own slots, so that no warp waits for another
// before the end. Then their sums are added in shared memory in a fixed order, so that every run
// gives the same bits. Where tiles are few, several blocks take slabs of one tile in turn, and
// leave their sums in a workspace for a second kernel; on Hopper and later it is launched while the
// first one works. Source: "sliced-K" and "split-K" in CUTLASS; programmatic dependent launch
// (CUDA, Hopper).

#include "k_warps.cuh"

namespace recheck::kernels::matmul {

template <int lanes_m, int tm, int tn, int blocks>
void k_warps(const MatmulArgs& args, const Queue& queue) {
  if (args.m == 0 || args.n == 0) return;
  using T = SharedK<lanes_m, tm, tn>;
  share_k<T, false>(args, 1, blocks_of_k(tiles<T>(args), slabs_of<T>(args), blocks), queue);
}

template void k_warps<4, 4, 4, 256>(const MatmulArgs&, const Queue&);
template void k_warps<4, 8, 4, 256>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
