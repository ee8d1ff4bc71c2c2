// SPDX-License-Identifier: Apache-2.0
//
// fp32 from TF32: two planes of 11 bits with fp32's exponents, three products. This is the usual
// first attempt. It costs twice what fp16 does and reads twice the bytes, and wgmma takes TF32
// along k only, so that the pre-pass has to transpose B. Source: CUTLASS's 3xTF32, examples 27 and
// 28, for Ampere.

#include "split_launch.cuh"

namespace recheck::kernels::matmul {

template <int interval>
void split_tf32x3(const MatmulArgs& args, const Queue& queue) {
  split::product<split::Tf32x3, split::Plan<192, interval, split::Small::first>,
                 split::Plan<128, interval, split::Small::first>,
                 split::Plan<64, interval, split::Small::first>>(args, queue);
}

template void split_tf32x3<32>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
