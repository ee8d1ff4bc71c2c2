// SPDX-License-Identifier: Apache-2.0
//
// How fast the L2 cache can be read: the same words again and again, bypassing the L1 caches. In
// every pass a thread takes another part, so that no multiprocessor sees the same words twice in a
// row.

#include "../fold.cuh"
#include "machine.hpp"

namespace recheck::kernels::machine {
namespace {

__global__ void __launch_bounds__(fold_block) l2_read_kernel(ProbeArgs p) {
  unsigned own = 0;
  for (int pass = 0; pass < l2_passes; ++pass)
    own ^= fold_words(reinterpret_cast<const unsigned*>(p.in), p.count,
                      (blockIdx.x + 7 * pass) % gridDim.x, gridDim.x, static_cast<int>(threadIdx.x),
                      fold_block, [](const uint4* at) { return __ldcg(at); });
  store_fold(own, reinterpret_cast<unsigned*>(p.out));
}

}  // namespace

void l2_read(const ProbeArgs& args, cudaStream_t stream) {
  l2_read_kernel<<<fold_blocks(args.count), fold_block, 0, stream>>>(args);
}

}  // namespace recheck::kernels::machine
