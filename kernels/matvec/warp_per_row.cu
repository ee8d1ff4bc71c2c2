// SPDX-License-Identifier: Apache-2.0
//
// One warp per row: the multiprocessor schedules warps, so one warp is enough for a row. Its lanes
// add up their partial sums by shuffles, without shared memory or barriers. Source: S3 announces
// the warp method, but its listing is lost (A19); reconstructed.

#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

constexpr int warp = 32;

__global__ void warp_per_row_kernel(MatvecArgs p) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const std::int64_t row =
      (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / warp;
  if (row >= p.rows) return;                   // the whole warp
  const float* __restrict__ a = line(p, row);  // (columns)
  const float* __restrict__ v = p.v;
  float sum = 0;
  for (int j = lane; j < p.columns; j += warp) sum += a[j] * v[j];
  for (int half = warp / 2; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
  if (lane == 0) p.r[row] = sum;
}

}  // namespace

template <int block>
void warp_per_row(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  warp_per_row_kernel<<<(args.rows - 1) / (block / warp) + 1, block, 0, stream>>>(args);
}

template void warp_per_row<256>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
