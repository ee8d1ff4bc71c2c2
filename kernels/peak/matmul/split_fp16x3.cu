// SPDX-License-Identifier: Apache-2.0
//
// fp32 from fp16: two planes of 11 bits each hold 22 bits and more of every element, scaled by row
// and by column; three of their four products, high·low, low·high and high·high, are summed, at
// a third of the tensor cores' fp16 rate. split_bound.hpp says how far the result may be off,
// split_planes.cuh which inputs are left to IEEE fp32. Source: Ootomo and Yokota, IJHPCA 2022; on
// wgmma and TMA, with scales by row and column, ours.
//
// The board's power binds it: at 8192³, back to back, an H200 runs it at 1.43 of 1.98 GHz. Tried on
// one that then has 198 TFLOP/s, and left out: second planes of 8, 6 and 4 bits instead of 11 make
// no difference that shows, and all zeros make it 230, the most that fewer bits there can bring;
// tiles of 192 columns, whose small products then have to be summed first, 190.

#include "split_launch.cuh"

namespace recheck::kernels::matmul {

template <int interval>
void split_fp16x3(const MatmulArgs& args, const Queue& queue) {
  // three sets of accumulators, small products among them, leave registers for 128 columns
  split::product<split::Fp16x3, split::Plan<128, interval, split::Small::apart>,
                 split::Plan<64, interval, split::Small::apart>>(args, queue);
}

template void split_fp16x3<64>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
