// SPDX-License-Identifier: Apache-2.0
//
// How fast the L2 cache can be read: the same words again and again, past the L1 caches. In every
// pass a thread takes another part, so that no multiprocessor sees the same words twice in a row.

#include "../fold.cuh"
#include "machine.hpp"

namespace recheck::kernels::machine {
namespace {

__global__ void __launch_bounds__(fold_block) l2_read_kernel(ProbeArgs p) {
  const std::int64_t threads = gridDim.x * static_cast<std::int64_t>(fold_block);
  unsigned own = 0;
  for (int pass = 0; pass < l2_passes; ++pass) {
    const std::int64_t block = (blockIdx.x + 7 * pass) % gridDim.x;
    own ^= fold_words(reinterpret_cast<const unsigned*>(p.in), p.count,
                      block * fold_block + threadIdx.x, threads,
                      [](const uint4* at) { return __ldcg(at); });
  }
  store_fold(own, reinterpret_cast<unsigned*>(p.out));
}

}  // namespace

void l2_read(const ProbeArgs& args, cudaStream_t stream) {
  l2_read_kernel<<<fold_blocks(args.count), fold_block, 0, stream>>>(args);
}

}  // namespace recheck::kernels::machine
