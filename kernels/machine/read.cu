// SPDX-License-Identifier: Apache-2.0
//
// How fast memory can be read: every word once, with next to no work on it.

#include "../fold.cuh"
#include "machine.hpp"

namespace recheck::kernels::machine {
namespace {

__global__ void __launch_bounds__(fold_block) read_kernel(ProbeArgs p) {
  store_fold(
      fold_words(reinterpret_cast<const unsigned*>(p.in), p.count, blockIdx.x, gridDim.x,
                 static_cast<int>(threadIdx.x), fold_block, [](const uint4* at) { return *at; }),
      reinterpret_cast<unsigned*>(p.out));
}

}  // namespace

void read(const ProbeArgs& args, cudaStream_t stream) {
  read_kernel<<<fold_blocks(args.count), fold_block, 0, stream>>>(args);
}

}  // namespace recheck::kernels::machine
