// SPDX-License-Identifier: Apache-2.0
//
// How fast a kernel can copy: 16 bytes at a time, four loads in flight per thread.

#include "machine.hpp"

namespace recheck::kernels::machine {
namespace {

constexpr int block = 256, per_thread = 4;

__global__ void __launch_bounds__(block) copy_kernel(ProbeArgs p) {
  const auto* in = reinterpret_cast<const float4*>(p.in);
  auto* out = reinterpret_cast<float4*>(p.out);
  const std::int64_t quads = p.count / 4;
  const std::int64_t first =
      blockIdx.x * static_cast<std::int64_t>(block * per_thread) + threadIdx.x;
  float4 x[per_thread];
#pragma unroll
  for (int u = 0; u < per_thread; ++u)
    if (first + u * block < quads) x[u] = in[first + u * block];
#pragma unroll
  for (int u = 0; u < per_thread; ++u)
    if (first + u * block < quads) out[first + u * block] = x[u];
  // the remainder, if four does not divide the count
  if (first < p.count % 4) p.out[4 * quads + first] = p.in[4 * quads + first];
}

}  // namespace

void copy(const ProbeArgs& args, cudaStream_t stream) {
  if (args.count == 0) return;
  const auto blocks = static_cast<unsigned>((args.count - 1) / (4 * block * per_thread) + 1);
  copy_kernel<<<blocks, block, 0, stream>>>(args);
}

}  // namespace recheck::kernels::machine
