// SPDX-License-Identifier: Apache-2.0
//
// Three ways to count bytes that Nicholas Wilt compares: where the counters are decides how often
// threads wait for one another, and how many of them fit. All read four bytes at once.
#include <algorithm>

#include "histogram.hpp"

namespace histogram {
namespace {

constexpr int bins = 256, threads = 256, few_threads = 64;

/// Calls body with each byte of this thread.
template <typename Body>
__device__ void each_byte(const Args& args, Body body) {
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x, words = args.count / 4;
  const auto* in = reinterpret_cast<const unsigned*>(args.in);
  for (auto i = first; i < words; i += stride)
    for (unsigned k = 0, word = in[i]; k < 4; ++k, word >>= 8) body(word & 255);
  for (auto i = 4 * words + first; i < args.count; i += stride) body(args.in[i]);
}

__global__ void per_grid_kernel(Args args) {
  each_byte(args, [&](unsigned value) { atomicAdd(&args.counts[value], 1U); });
}

__global__ void per_block_kernel(Args args) {
  __shared__ unsigned counts[bins];
  counts[threadIdx.x] = 0;
  __syncthreads();
  each_byte(args, [&](unsigned value) { atomicAdd(&counts[value], 1U); });
  __syncthreads();
  atomicAdd(&args.counts[threadIdx.x], counts[threadIdx.x]);
}

/// Four counters are one word; a thread's words are all in its own bank.
__global__ void per_thread_kernel(Args args) {
  __shared__ unsigned counters[bins / 4 * few_threads];
  const unsigned t = threadIdx.x;
  const auto count = [&](unsigned value) {
    ++reinterpret_cast<unsigned char*>(&counters[value / 4 * few_threads + t])[value % 4];
  };
  const std::int64_t first = std::int64_t{blockIdx.x} * few_threads + t;
  const std::int64_t stride = std::int64_t{gridDim.x} * few_threads, words = args.count / 4;
  const auto* in = reinterpret_cast<const unsigned*>(args.in);
  unsigned sums[4] = {};
  std::int64_t i = first;
  bool rest = true;
  for (std::int64_t begin = 0; rest || begin < words; begin += 63 * stride) {
    for (int k = 0; k < bins / 4; ++k) counters[k * few_threads + t] = 0;
    // 252 bytes, and once one of the last three: a counter holds 255
    for (int k = 0; k < 63 && i < words; ++k, i += stride)
      for (unsigned b = 0, word = in[i]; b < 4; ++b, word >>= 8) count(word & 255);
    if (rest && first < args.count - 4 * words) count(args.in[4 * words + first]);
    rest = false;
    __syncthreads();
    for (unsigned k = 0; k < few_threads; ++k) {
      unsigned word = counters[t * few_threads + (k + t) % few_threads];
      for (unsigned& sum : sums) sum += word & 255, word >>= 8;
    }
    __syncthreads();
  }
  for (unsigned b = 0; b < 4; ++b) atomicAdd(&args.counts[4 * t + b], sums[b]);
}

template <auto kernel, int size>
void launch(const Args& args, cudaStream_t stream) {
  cudaMemsetAsync(args.counts, 0, bins * sizeof(unsigned), stream);
  const auto blocks = std::clamp<std::int64_t>(args.count / (4 * size), 1, 2112);
  kernel<<<static_cast<unsigned>(blocks), size, 0, stream>>>(args);
}

}  // namespace

void per_grid(const Args& args, cudaStream_t stream) {
  launch<per_grid_kernel, threads>(args, stream);
}
void per_block(const Args& args, cudaStream_t stream) {
  static_assert(threads == bins);
  launch<per_block_kernel, threads>(args, stream);
}
void per_thread(const Args& args, cudaStream_t stream) {
  static_assert(4 * few_threads == bins);
  launch<per_thread_kernel, few_threads>(args, stream);
}

}  // namespace histogram
