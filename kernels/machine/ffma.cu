// SPDX-License-Identifier: Apache-2.0
//
// How many fp32 multiply-adds the multiprocessors do: from registers only, with eight independent
// chains per thread. The factor is 1 but comes as an argument, so that the compiler has to
// multiply. The result is therefore a plain sum, which a CPU can check bit for bit.

#include "machine.hpp"

namespace recheck::kernels::machine {
namespace {

constexpr int block = 256;

__global__ void __launch_bounds__(block) ffma_kernel(ProbeArgs p, float one) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(block) + threadIdx.x;
  if (i >= p.count) return;
  const float step = p.in[i];
  float chain[ffma_chains];
#pragma unroll
  for (int c = 0; c < ffma_chains; ++c) chain[c] = static_cast<float>(c);
#pragma unroll 16
  for (int s = 0; s < ffma_steps; ++s) {
#pragma unroll
    for (int c = 0; c < ffma_chains; ++c) chain[c] = fmaf(chain[c], one, step);
  }
  float sum = 0;
#pragma unroll
  for (int c = 0; c < ffma_chains; ++c) sum += chain[c];
  p.out[i] = sum;
}

}  // namespace

void ffma(const ProbeArgs& args, cudaStream_t stream) {
  if (args.count == 0) return;
  ffma_kernel<<<static_cast<unsigned>((args.count - 1) / block + 1), block, 0, stream>>>(args,
                                                                                         1.0f);
}

}  // namespace recheck::kernels::machine
