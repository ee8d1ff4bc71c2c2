// SPDX-License-Identifier: Apache-2.0
//
// The seven kernels of Mark Harris's slides. Each block leaves the sum of its elements, and
// launches repeat until one sum is left. The slides have no guards; here, elements beyond the end
// count as 0.
#include <algorithm>
#include <utility>

#include "reduce.hpp"

namespace reduction {
namespace {

constexpr unsigned threads = 128;

__device__ int element(const int* in, std::int64_t count, std::int64_t at) {
  return at < count ? in[at] : 0;
}

/// One warp adds the last 64 sums. In 2007 its lanes ran in lockstep; today they need __syncwarp().
__device__ void last_warp(volatile int* sums, unsigned lane) {
  for (unsigned step = 32; step > 0; step /= 2) {
    const int sum = sums[lane] + sums[lane + step];
    __syncwarp();
    sums[lane] = sum;
    __syncwarp();
  }
}

template <int version>
__global__ void __launch_bounds__(threads)
    sum_of_blocks(const int* __restrict__ in, std::int64_t count, int* __restrict__ out) {
  __shared__ int sums[threads];
  const unsigned t = threadIdx.x, size = version >= 6 ? threads : blockDim.x;
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * size * (version >= 4 ? 2 : 1) + t;

  // loading: one element per thread; from version 4 on two, added at once; in 7 any number
  if constexpr (version < 4) {
    sums[t] = element(in, count, first);
  } else if constexpr (version < 7) {
    sums[t] = element(in, count, first) + element(in, count, first + size);
  } else {
    int sum = 0;
    for (auto at = first; at < count; at += std::int64_t{2} * size * gridDim.x)
      sum += in[at] + element(in, count, at + size);
    sums[t] = sum;
  }
  __syncthreads();

  // adding: neighbours, found by a remainder (1) or by an index (2); halves (3 and 4); the last
  // warp unrolled (5); everything unrolled (6 and 7)
  if constexpr (version == 1) {
    for (unsigned step = 1; step < size; step *= 2) {
      if (t % (2 * step) == 0) sums[t] += sums[t + step];
      __syncthreads();
    }
  } else if constexpr (version == 2) {
    for (unsigned step = 1; step < size; step *= 2) {
      const unsigned at = 2 * step * t;
      if (at < size) sums[at] += sums[at + step];
      __syncthreads();
    }
  } else if constexpr (version < 5) {
    for (unsigned step = size / 2; step > 0; step /= 2) {
      if (t < step) sums[t] += sums[t + step];
      __syncthreads();
    }
  } else {
    if constexpr (version == 5) {
#pragma unroll 1
      for (unsigned step = size / 2; step > 32; step /= 2) {
        if (t < step) sums[t] += sums[t + step];
        __syncthreads();
      }
    } else {
      static_assert(threads == 128);
      if (t < 64) sums[t] += sums[t + 64];
      __syncthreads();
    }
    if (t < 32) last_warp(sums, t);
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

}  // namespace

template <int version, int blocks>
void reduce(const Args& args, cudaStream_t stream) {
  constexpr std::int64_t of_a_block = threads * (version >= 4 ? 2 : 1);
  const int* in = args.in;
  int *spare = args.workspace, *other = args.workspace + partials(args.count) / 2;
  for (std::int64_t count = args.count;;) {
    std::int64_t grid = std::max<std::int64_t>(1, (count + of_a_block - 1) / of_a_block);
    // if there are more elements, each block takes more of them
    if (version == 7) grid = count > blocks ? std::min<std::int64_t>(grid, blocks) : 1;
    int* out = grid == 1 ? args.out : spare;
    sum_of_blocks<version><<<static_cast<unsigned>(grid), threads, 0, stream>>>(in, count, out);
    if (grid == 1) return;
    in = out;
    count = grid;
    std::swap(spare, other);
  }
}

template void reduce<1>(const Args&, cudaStream_t);
template void reduce<2>(const Args&, cudaStream_t);
template void reduce<3>(const Args&, cudaStream_t);
template void reduce<4>(const Args&, cudaStream_t);
template void reduce<5>(const Args&, cudaStream_t);
template void reduce<6>(const Args&, cudaStream_t);
template void reduce<7, 64>(const Args&, cudaStream_t);
template void reduce<7, 128>(const Args&, cudaStream_t);
template void reduce<7, 256>(const Args&, cudaStream_t);
template void reduce<7, 2112>(const Args&, cudaStream_t);

}  // namespace reduction
