// SPDX-License-Identifier: Apache-2.0
//
// One thread per row: the serial loop, handed out to threads. Neighbouring threads read words that
// are a whole row apart, so a warp's load touches 32 sectors of memory to use one word of each.
// Source: S3 mxvNaive (A13), whose pitch came from cudaMallocPitch.

#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

template <int unroll>
__global__ void naive_kernel(MatvecArgs p) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (row >= p.rows) return;
  const float* a = line(p, row);  // (columns)
  float sum = 0;
#pragma unroll unroll
  for (int j = 0; j < p.columns; ++j) sum += a[j] * p.v[j];
  p.r[row] = sum;
}

}  // namespace

template <int block, int unroll>
void naive(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  naive_kernel<unroll><<<(args.rows - 1) / block + 1, block, 0, stream>>>(args);
}

template void naive<256, 4>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
