// SPDX-License-Identifier: Apache-2.0
//
// The cost of a launch that does next to nothing, back to back with others like it.

#include "machine.hpp"

namespace recheck::kernels::machine {
namespace {

__global__ void launch_kernel(ProbeArgs p) {
  if (p.count > 0) p.out[0] = p.in[0];
}

}  // namespace

void launch(const ProbeArgs& args, cudaStream_t stream) {
  launch_kernel<<<1, 1, 0, stream>>>(args);
}

}  // namespace recheck::kernels::machine
