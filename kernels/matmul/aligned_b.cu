// SPDX-License-Identifier: Apache-2.0
//
// The copy engine takes rows that start at multiples of 16 bytes. A matrix whose rows do not is
// copied once, which costs a few per cent of the product at 1000 and less above. Word by word with
// cp.async into the same slabs, without a copy, cost more: up to 20 cycles for each instruction
// whose words lie in shared memory otherwise than in a sector of 32 bytes.

#include <cuda_runtime.h>

#include "aligned_b.hpp"

namespace recheck::kernels::matmul {
namespace {

constexpr int threads = 256, words = 8;  // of a row, for each thread

__global__ void __launch_bounds__(threads)
    align_kernel(const float* __restrict__ from, std::int64_t ld, int rows, int columns,
                 float* __restrict__ to, int to_ld) {
  const int warps = (columns + 32 * words - 1) / (32 * words);  // for a row
  const std::int64_t warp = (std::int64_t{blockIdx.x} * threads + threadIdx.x) / 32;
  const std::int64_t row = warp / warps;
  const int first = static_cast<int>(warp % warps) * 32 * words + threadIdx.x % 32;
  if (row >= rows) return;
  from += row * ld, to += row * to_ld;
  float own[words];
#pragma unroll
  for (int i = 0; i < words; ++i) own[i] = first + 32 * i < columns ? from[first + 32 * i] : 0;
#pragma unroll
  for (int i = 0; i < words; ++i)
    if (first + 32 * i < columns) to[first + 32 * i] = own[i];
}

}  // namespace

void align_b(MatmulArgs& p, float* to, cudaStream_t stream) {
  const int ld = (p.n + 3) / 4 * 4;
  const std::int64_t all = std::int64_t{p.k} * ((p.n + 32 * words - 1) / (32 * words)) * 32;
  align_kernel<<<static_cast<unsigned>((all + threads - 1) / threads), threads, 0, stream>>>(
      p.b, p.ldb, p.k, p.n, to, ld);
  p.b = to, p.ldb = ld;
}

}  // namespace recheck::kernels::matmul
