// SPDX-License-Identifier: Apache-2.0
//
// Three ways to count bytes that Nicholas Wilt compares. The place of the counters decides how
// often threads wait for one another, and how many counters fit. All read four bytes at once.
#include <algorithm>

#include "histogram.hpp"

namespace histogram {
namespace {

constexpr int bins = 256, few_threads = bins / 4, words_until_full = 63;

/// Calls body with each byte of this thread's words from begin to end, including those of a partial
/// last word.
template <typename Body>
__device__ void each_byte(const Args& args, std::int64_t begin, std::int64_t end, Body body) {
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x, words = args.count / 4;
  const auto* in = reinterpret_cast<const unsigned*>(args.in);
  for (auto i = begin + first; i < (end < words ? end : words); i += stride)
    for (unsigned k = 0, word = in[i]; k < 4; ++k, word >>= 8) body(word & 255);
  if (end > words && first < args.count % 4) body(args.in[4 * words + first]);
}

__global__ void per_grid_kernel(Args args) {
  each_byte(args, 0, args.count, [&](unsigned value) { atomicAdd(&args.counts[value], 1U); });
}

__global__ void per_block_kernel(Args args) {
  __shared__ unsigned counts[bins];
  counts[threadIdx.x] = 0;
  __syncthreads();
  each_byte(args, 0, args.count, [&](unsigned value) { atomicAdd(&counts[value], 1U); });
  __syncthreads();
  atomicAdd(&args.counts[threadIdx.x], counts[threadIdx.x]);
}

/// Four counters share one word, and a thread's words are all in its own bank. They hold up to 255,
/// so they are added up after 63 words and a byte.
__global__ void per_thread_kernel(Args args) {
  __shared__ unsigned counters[bins / 4 * few_threads];
  const unsigned t = threadIdx.x;
  const std::int64_t step = std::int64_t{words_until_full} * gridDim.x * few_threads;
  unsigned sums[4] = {};
  for (std::int64_t begin = 0; begin <= args.count / 4; begin += step) {
    for (int k = 0; k < bins / 4; ++k) counters[k * few_threads + t] = 0;
    each_byte(args, begin, begin + step, [&](unsigned value) {
      ++reinterpret_cast<unsigned char*>(&counters[value / 4 * few_threads + t])[value % 4];
    });
    __syncthreads();
    for (unsigned k = 0; k < few_threads; ++k) {
      unsigned word = counters[t * few_threads + (k + t) % few_threads];
      for (unsigned& sum : sums) sum += word & 255, word >>= 8;
    }
    __syncthreads();
  }
  for (unsigned b = 0; b < 4; ++b) atomicAdd(&args.counts[4 * t + b], sums[b]);
}

}  // namespace

template <Counters where>
void count(const Args& args, cudaStream_t stream) {
  constexpr auto kernel = where == Counters::per_grid    ? per_grid_kernel
                          : where == Counters::per_block ? per_block_kernel
                                                         : per_thread_kernel;
  constexpr int threads = where == Counters::per_thread ? few_threads : bins;
  cudaMemsetAsync(args.counts, 0, bins * sizeof(unsigned), stream);
  const auto blocks = std::clamp<std::int64_t>(args.count / (4 * threads), 1, 2112);
  kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(args);
}

template void count<Counters::per_grid>(const Args&, cudaStream_t);
template void count<Counters::per_block>(const Args&, cudaStream_t);
template void count<Counters::per_thread>(const Args&, cudaStream_t);

}  // namespace histogram
