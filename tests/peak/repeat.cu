// SPDX-License-Identifier: Apache-2.0
//
// A file of its own: nvcc would read the test's headers once per architecture.
#include "repeat.hpp"

namespace recheck {
namespace {

__global__ void compare_kernel(const std::uint32_t* a, const std::uint32_t* b, std::int64_t count,
                               unsigned* differ) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    if (a[i] != b[i]) *differ = 1;
}

}  // namespace

void note_difference(const float* a, const float* b, std::int64_t count, unsigned* differ,
                     cudaStream_t stream) {
  compare_kernel<<<1024, 256, 0, stream>>>(reinterpret_cast<const std::uint32_t*>(a),
                                           reinterpret_cast<const std::uint32_t*>(b), count,
                                           differ);
}

}  // namespace recheck
