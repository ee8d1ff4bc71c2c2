// SPDX-License-Identifier: Apache-2.0
//
// One warp per row as it had to be written in 2010, before shuffles: the eight warps of a block
// stage the vector in shared memory, 256 words at a time, one per thread, and every warp adds up
// its lanes in its own row of shared memory. In 2010 the lanes of a warp ran in step and needed no
// barrier; since Volta they need __syncwarp. Source: S3 announces it (A19); the shape follows a
// public OpenCL port of such kernels, with the names of the slides.

#include <algorithm>

#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

constexpr int warp = 32, warps = 8, block = warp * warps;

__global__ void __launch_bounds__(block) warp_per_row_shared_kernel(MatvecArgs p) {
  __shared__ float staged[block];
  __shared__ float sums[warps][warp];
  const int tid = static_cast<int>(threadIdx.x), lane = tid % warp;
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(warps) + tid / warp;
  const float* a = line(p, row);  // (columns)
  float sum = 0;
  for (int start = 0; start < p.columns; start += block) {
    const int count = min(p.columns - start, block);
    __syncthreads();  // the previous words may be overwritten
    if (tid < count) staged[tid] = p.v[start + tid];
    __syncthreads();  // the words are written
    if (row >= p.rows) continue;
    for (int j = lane; j < count; j += warp) sum += a[start + j] * staged[j];
  }
  float* own = sums[tid / warp];
  own[lane] = sum;
  for (int half = warp / 2; half > 0; half /= 2) {
    __syncwarp();
    if (lane < half) own[lane] += own[lane + half];
  }
  if (lane == 0 && row < p.rows) p.r[row] = own[0];
}

}  // namespace

void warp_per_row_shared(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  warp_per_row_shared_kernel<<<(args.rows - 1) / warps + 1, block, 0, stream>>>(args);
}

}  // namespace recheck::kernels::matvec
