// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// CUDA's own declaration: tables also compile without CUDA
struct CUstream_st;
using cudaStream_t = CUstream_st*;

namespace reduction {

/// A sum of `count` ints on the GPU: out[0] = Σ in[i]. The workspace has partials(count) ints.
struct Args {
  const int* in;
  std::int64_t count;
  int* out;
  int* workspace;
};

/// Ints of workspace that every kernel can do with: the block sums of two levels.
constexpr std::int64_t partials(std::int64_t count) { return 2 * (count / 128 + 1) + (1 << 16); }

/// The seven kernels of the slides, in blocks of 128 threads; the seventh in this many blocks.
template <int version, int blocks = 0>
void reduce(const Args& args, cudaStream_t stream);

/// cub::DeviceReduce::Sum.
void library(const Args& args, cudaStream_t stream);

}  // namespace reduction
