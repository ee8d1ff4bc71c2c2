// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../table/method.hpp"
#include "flush.hpp"

namespace recheck {
namespace {

__global__ void flush_kernel(float4* zeros, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  float sum = 0;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    const float4 v = zeros[i];
    sum += v.x + v.y + v.z + v.w;
  }
  // never true here, but the compiler cannot know that, so it keeps the loads
  if (sum == 1.0f) zeros->x = sum;
}

}  // namespace

Flush::Flush(std::int64_t l2_bytes)
    : bytes_(std::max(method.flush_l2_sizes * l2_bytes, method.flush_least_bytes)),
      zeros_(bytes_ / static_cast<std::int64_t>(sizeof(float))) {
  check(cudaMemset(zeros_, 0, bytes_));
}

void Flush::queue(cudaStream_t stream) const {
  flush_kernel<<<2048, 256, 0, stream>>>(reinterpret_cast<float4*>(+zeros_),
                                         bytes_ / static_cast<std::int64_t>(sizeof(float4)));
}

}  // namespace recheck
