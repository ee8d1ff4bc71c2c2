// SPDX-License-Identifier: Apache-2.0
#pragma once

// TMA needs rows that start at multiples of 16 bytes. If a matrix has others, it is copied once,
// which costs a few per cent of the product at 1000 and less above. Other ways cost more: cp.async
// word by word up to 20 cycles for each instruction whose words are aligned differently in shared
// memory and in their sectors of 32 bytes; words by way of the producers' registers 66 % at 4095,
// as too few are in flight; TMA of every fourth row, moved to its place in shared memory, 11 %.

#include <cuda_runtime.h>

#include "../hopper.cuh"
#include "matmul.hpp"

namespace recheck::kernels::matmul {

constexpr int align_threads = 256, align_words = 8;  // words of a row that each thread copies

static __global__ void __launch_bounds__(align_threads)
    align_kernel(const float* __restrict__ from, std::int64_t ld, int rows, int columns,
                 float* __restrict__ to, std::int64_t to_ld) {
  hopper::griddepcontrol_launch_dependents();
  constexpr int chunk = 32 * align_words;  // of a warp
  const int chunks = (columns + chunk - 1) / chunk;
  const std::int64_t warp = (std::int64_t{blockIdx.x} * align_threads + threadIdx.x) / 32;
  const std::int64_t row = warp / chunks;
  const int first = static_cast<int>(warp % chunks) * chunk + threadIdx.x % 32;
  if (row >= rows) return;
  from += row * ld, to += row * to_ld;
  float own[align_words];
#pragma unroll
  for (int i = 0; i < align_words; ++i)
    own[i] = first + 32 * i < columns ? from[first + 32 * i] : 0;
#pragma unroll
  for (int i = 0; i < align_words; ++i)
    if (first + 32 * i < columns) to[first + 32 * i] = own[i];
}

/// Copies B to `to` (aligned_b_floats) with all rows on 16 bytes, and makes the copy p's B. The
/// stream's next kernel may be launched behind this one.
inline void align_b(MatmulArgs& p, float* to, cudaStream_t stream) {
  const std::int64_t ld = padded_row(p.n), chunk = 32 * align_words;
  const std::int64_t threads = p.k * ((p.n + chunk - 1) / chunk) * 32;
  const auto blocks = static_cast<unsigned>((threads + align_threads - 1) / align_threads);
  align_kernel<<<blocks, align_threads, 0, stream>>>(p.b, p.ldb, p.k, p.n, to, ld);
  p.b = to, p.ldb = ld;
}

}  // namespace recheck::kernels::matmul
