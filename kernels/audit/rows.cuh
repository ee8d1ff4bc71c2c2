// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "audit.hpp"

namespace recheck::kernels::audit {

inline constexpr int block = 256;

/// A block per row. Blocks beyond the last row compute rows from the middle again. Those rows were
/// read too long ago to be in a cache, so they come from memory, and will again in the next launch.
/// They write the values that r already holds.
static __global__ void __launch_bounds__(block) rows_kernel(MatvecArgs p) {
  const auto rows = static_cast<unsigned>(p.rows);
  const auto row = blockIdx.x < rows ? blockIdx.x : blockIdx.x - (rows + 1) / 2;
  const float* __restrict__ a = line(p, row);
  const float* __restrict__ v = p.v;
  float sum = 0;
  for (int j = static_cast<int>(threadIdx.x); j < p.columns; j += block) sum += a[j] * v[j];
  __shared__ float sums[block / 32];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < block / 32; ++w) sum += sums[w];
  p.r[row] = sum;
}

inline void launch_rows(const MatvecArgs& p, std::int64_t blocks, cudaStream_t stream) {
  if (p.rows > 0) rows_kernel<<<static_cast<unsigned>(blocks), block, 0, stream>>>(p);
}

}  // namespace recheck::kernels::audit
