// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where k is cut into several ranges: the products of the ranges in the workspace, and the kernel
// that adds them, in an order that depends only on their number.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "../../code.hpp"
#include "../../launch.hpp"
#include "../hopper.cuh"
#include "matmul.hpp"

namespace recheck::kernels::matmul {

/// The products of all ranges of k (`stretch`), in order.
struct Parts {
  float* data;            // null: one range, straight to C
  std::int64_t ld, size;  // floats of a row (on 16 bytes), and of a product

  /// Makes a block of this range store its product here instead of in C.
  __device__ __forceinline__ void take_place_of_c(MatmulArgs& p, int stretch) const {
    if (data == nullptr) return;
    p.c = data + stretch * size;
    p.ldc = ld;
  }
};

inline Parts parts_of(const MatmulArgs& args, int stretches, float* workspace) {
  const std::int64_t ld = padded_row(args.n);
  return {stretches > 1 ? workspace : nullptr, ld, args.m * ld};
}

constexpr int add_threads = 256, add_at_once = 8, most_helpers = 64;

/// C: each output is a sum over `count` ranges. A block has `across` outputs, and add_threads /
/// across helpers for each. A helper adds every helpers-th range, with add_at_once loads under way
/// at a time; the first helper adds up the helpers' sums.
static __global__ void __launch_bounds__(add_threads)
    add_stretches_kernel(MatmulArgs p, Parts parts, int count, int across) {
  __shared__ float sums[add_threads];
  const int tid = static_cast<int>(threadIdx.x), helper = tid / across,
            helpers = add_threads / across;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * across + tid % across;
  const std::int64_t row = i / p.n, column = i % p.n;
  const bool inside = row < p.m;
  const float* from = parts.data + row * parts.ld + column;
  hopper::griddepcontrol_wait();
  float sum = 0;
  if (inside) {
    for (int s = helper; s < count; s += add_at_once * helpers) {
      float own[add_at_once];
#pragma unroll
      for (int u = 0; u < add_at_once; ++u)
        own[u] = s + u * helpers < count ? from[(s + u * helpers) * parts.size] : 0;
#pragma unroll
      for (int u = 0; u < add_at_once; ++u) sum += own[u];
    }
  }
  sums[tid] = sum;
  __syncthreads();
  if (helper > 0 || !inside) return;
#pragma unroll 8
  for (int h = 1; h < helpers; ++h) sum += sums[h * across + tid];
  p.c[row * p.ldc + column] = sum;
}

/// Adds the ranges, if there are several.
static void add_stretches(const MatmulArgs& args, const Parts& parts, int count,
                          cudaStream_t stream) {
  if (count == 1) return;
  // about add_at_once ranges for each helper
  const auto wanted = std::bit_floor(static_cast<unsigned>(count) * 2 / add_at_once);
  const int helpers = std::clamp(static_cast<int>(wanted), 1, most_helpers);
  const int across = add_threads / helpers;
  const std::int64_t outputs = static_cast<std::int64_t>(args.m) * args.n;
  const auto blocks = static_cast<unsigned>((outputs + across - 1) / across);
  // older code cannot wait for a kernel that it overlaps with
  if (code_here(compute_capability()) >= 90)
    launch_behind(add_stretches_kernel, blocks, add_threads, 0, stream, args, parts, count, across);
  else
    add_stretches_kernel<<<blocks, add_threads, 0, stream>>>(args, parts, count, across);
}

}  // namespace recheck::kernels::matmul
