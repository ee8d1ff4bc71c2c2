// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../base/mix.hpp"
#include "device_kernels.hpp"

namespace recheck {
namespace {

__global__ void exchange_kernel(float* a, float* b, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride) {
    const float of_a = a[i];
    const float of_b = b[i];
    b[i] = of_a;
    a[i] = of_b;
  }
}

__device__ std::int64_t global_nanoseconds() {
  std::int64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void hold_kernel(const volatile std::int64_t* released, std::int64_t until,
                            std::int64_t nanoseconds) {
  const std::int64_t start = global_nanoseconds();
  while ((released == nullptr || *released < until) && global_nanoseconds() - start < nanoseconds)
    __nanosleep(200);
}

__global__ void poison_shared_kernel(int words) {
  extern __shared__ unsigned shared_words[];
  volatile unsigned* out = shared_words;  // volatile keeps the dead stores
  for (int i = threadIdx.x; i < words; i += blockDim.x) out[i] = 0xffffffffu;
}

__global__ void digest_kernel(const float* words, std::int64_t count, unsigned long long* sum) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  unsigned long long own = 0;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += stride)
    own += mix(__float_as_uint(words[i]), i);
  for (int half = warpSize / 2; half > 0; half /= 2)
    own += __shfl_down_sync(0xffffffffu, own, half);
  if (threadIdx.x % warpSize == 0) atomicAdd(sum, own);
}

__global__ void read_clocks_kernel(ClockReading* readings) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (sm < clock_slots) readings[sm] = {clock64(), global_nanoseconds()};
}

}  // namespace

void hold(const std::int64_t* released, std::int64_t until, std::int64_t nanoseconds,
          cudaStream_t stream) {
  hold_kernel<<<1, 1, 0, stream>>>(released, until, nanoseconds);
}

void exchange(float* a, float* b, std::int64_t count, cudaStream_t stream) {
  exchange_kernel<<<2048, 256, 0, stream>>>(a, b, count);
}

void poison_shared(int sm_count, int bytes_per_block, cudaStream_t stream) {
  cudaFuncSetAttribute(poison_shared_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       bytes_per_block);
  // a block this large occupies its multiprocessor, so a few waves reach every one
  poison_shared_kernel<<<4 * sm_count, 256, bytes_per_block, stream>>>(
      bytes_per_block / static_cast<int>(sizeof(unsigned)));
}

void add_digest(const float* words, std::int64_t count, unsigned long long* sum,
                cudaStream_t stream) {
  constexpr std::int64_t block = 256, most_blocks = 2048;
  const auto blocks = std::clamp<std::int64_t>((count + block - 1) / block, 1, most_blocks);
  digest_kernel<<<static_cast<unsigned>(blocks), block, 0, stream>>>(words, count, sum);
}

void read_clocks(ClockReading* readings, int sm_count, cudaStream_t stream) {
  read_clocks_kernel<<<sm_count, 1, 0, stream>>>(readings);
}

}  // namespace recheck
