// SPDX-License-Identifier: Apache-2.0
//
// fp32 from bf16: three planes of 8 bits hold all 24 bits of an element over nearly all of fp32's
// range, so nothing is scaled. The six largest of their nine products are summed, at a sixth of the
// tensor cores' rate. split_bound.hpp gives the error bound. Source: Henry, Tang and Heinecke,
// "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations",
// ARITH 2019.

#include "split_launch.cuh"

namespace recheck::kernels::matmul {

template <int interval>
void split_bf16x6(const MatmulArgs& args, const Queue& queue) {
  split::product<split::Bf16x6, split::Plan<192, interval, split::Small::first>,
                 split::Plan<128, interval, split::Small::first>,
                 split::Plan<64, interval, split::Small::first>>(args, queue);
}

template void split_bf16x6<64>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
