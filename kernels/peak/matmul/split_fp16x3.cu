// SPDX-License-Identifier: Apache-2.0
//
// fp32 from fp16: two planes of 11 bits each hold at least 22 bits of every element, scaled by row
// and by column. Three of their four products, high·low, low·high and high·high, are summed, at a
// third of the tensor cores' fp16 rate. split_bound.hpp gives the error bound; split_planes.cuh
// lists the inputs that are left to IEEE fp32. Source: Ootomo and Yokota, IJHPCA 2022; on wgmma and
// TMA, with scales by row and column, ours.
//
// The board's power limits it: at 8192³, back to back, an H200 runs it at 1.43 of 1.98 GHz. These
// were tried there, against 198 TFLOP/s, and left out: second planes of 8, 6 or 4 bits instead of
// 11 make no measurable difference; all zeros reach 230, the most that fewer bits can gain; tiles
// of 192 columns, whose small products then have to be summed first, reach 190.

#include "split_launch.cuh"

namespace recheck::kernels::matmul {

template <int interval>
void split_fp16x3(const MatmulArgs& args, const Queue& queue) {
  // three sets of accumulators, one of them for small products, leave registers for 128 columns
  split::product<split::Fp16x3, split::Plan<128, interval, split::Small::apart>,
                 split::Plan<64, interval, split::Small::apart>>(args, queue);
}

template void split_fp16x3<64>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
