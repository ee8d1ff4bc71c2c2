// SPDX-License-Identifier: Apache-2.0
//
// Producers and consumers. In async_stages.cu the warps that multiply also start the copies, and
// every slab ends in a barrier for the whole block. Here producer warps only copy, and consumer
// warps only multiply; setmaxnreg moves the producers' spare registers to the consumers. The two
// synchronise by a "full" and an "empty" mbarrier for each slot. B comes by TMA. A has to be
// transposed, so that a fragment is one load of four words; it comes word by word with cp.async,
// which arrives at the same mbarrier. The grid is persistent: a block per multiprocessor takes tile
// after tile, in bands whose panels stay in L2. With few tiles a cluster of blocks shares k, and
// adds its parts in a fixed order through distributed shared memory. Source: warp specialisation as
// in CUTLASS's Hopper kernels, here for FFMA and a row-major A. The kernel itself: persistent.cuh.
//
// The limit at 4096 and above is the issue rate: FFMA takes 0.94 of all issue slots (cuBLAS: 0.88);
// the rest are loads from shared memory and register bank conflicts. Three variants were slower:
// clusters that share B by multicast, slabs of 32, twice the consumers. Clusters of four or eight
// of the large blocks cannot use all 132 multiprocessors: only 30 and 15 clusters run at a time,
// where 32 at 1024 and 16 at 512 would be one wave.

#include <cuda_runtime.h>

#include <algorithm>

#include "persistent.cuh"

namespace recheck::kernels::matmul {

template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int split>
void tma_persistent(const MatmulArgs& args, const Queue& queue) {
  persistent<warps_m, warps_n, tm, tn, depth, stages, split>(
      args, queue.workspace, nullptr, queue.stream,
      [](int tiles, int slabs) {
        const int blocks = split > 1 ? tiles * split : std::min(tiles, multiprocessors());
        return Schedule{slabs, tiles, blocks};
      },
      [](auto...) {});
}

template void tma_persistent<4, 2, 8, 16, 16, 5, 1>(const MatmulArgs&, const Queue&);
template void tma_persistent<4, 2, 8, 8, 32, 4, 2>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
