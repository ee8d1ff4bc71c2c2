// SPDX-License-Identifier: Apache-2.0
//
// One block per row, A by rows and not transposed: the threads stride along the row together, so
// their loads are neighbours, and then add up their partial sums in shared memory. The listing
// breaks off inside the loop; the reduction is the tree usual at the time. Source: S3 mxvBlock
// (A18).

#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

template <int block>
__global__ void __launch_bounds__(block) block_per_row_kernel(MatvecArgs p) {
  static_assert((block & (block - 1)) == 0, "the tree halves the block");
  __shared__ float sums[block];
  const int tid = static_cast<int>(threadIdx.x);
  const float* __restrict__ a = line(p, blockIdx.x);  // (columns)
  const float* __restrict__ v = p.v;
  float sum = 0;
  for (int j = tid; j < p.columns; j += block) sum += a[j] * v[j];
  sums[tid] = sum;
  for (int half = block / 2; half > 0; half /= 2) {
    __syncthreads();  // the sums of the last round are written
    if (tid < half) sums[tid] += sums[tid + half];
  }
  if (tid == 0) p.r[blockIdx.x] = sums[0];
}

}  // namespace

template <int block>
void block_per_row(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  block_per_row_kernel<block><<<args.rows, block, 0, stream>>>(args);
}

template void block_per_row<256>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
