// SPDX-License-Identifier: Apache-2.0
//
// Words too many to come from the host, and the count of those that came out wrong. Apart from the
// test, whose headers nvcc would read for each architecture.
#include "launches.hpp"

namespace recheck {
namespace {

constexpr int blocks = 1024, threads = 256;

/// Exact in TF32 as well, and five times it in fp32; neighbours differ, and so do words a power of
/// two apart.
__device__ float numbered(std::int64_t i) { return static_cast<float>(i % 1021 + 1); }

__global__ void number_kernel(float* words, std::int64_t count) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    words[i] = numbered(i);
}

__global__ void count_wrong_kernel(const float* words, std::int64_t count, float factor,
                                   unsigned long long* wrong) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  unsigned long long own = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    own += words[i] == numbered(i) * factor ? 0 : 1;
  if (own > 0) atomicAdd(wrong, own);
}

}  // namespace

void number(float* words, std::int64_t count, cudaStream_t stream) {
  number_kernel<<<blocks, threads, 0, stream>>>(words, count);
}

void count_wrong(const float* words, std::int64_t count, float factor, unsigned long long* wrong,
                 cudaStream_t stream) {
  count_wrong_kernel<<<blocks, threads, 0, stream>>>(words, count, factor, wrong);
}

}  // namespace recheck
