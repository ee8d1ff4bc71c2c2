// SPDX-License-Identifier: Apache-2.0
//
// The vector goes through shared memory instead: a block stages a chunk of it, uses it for all its
// rows, and stages the next. This takes one launch for any length, and no global variable. Threads
// beyond the last row also stage and wait, and skip only the sums: a return before a barrier would
// leave the rest of the block waiting. Source: S3 mxvNaiveTransposeShared (A16).

#include <algorithm>

#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

template <int unroll, int chunk>
__global__ void shared_kernel(MatvecArgs p) {
  __shared__ float staged[chunk];
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < p.columns; start += chunk) {
    const int end = min(p.columns, start + chunk);
    __syncthreads();  // the previous chunk may be overwritten
#pragma unroll 4
    for (int j = start + static_cast<int>(threadIdx.x); j < end; j += blockDim.x)
      staged[j - start] = p.v[j];
    __syncthreads();  // the chunk is whole
    if (row >= p.rows) continue;
#pragma unroll unroll
    for (int j = start; j < end; ++j) sum += line(p, j)[row] * staged[j - start];
  }
  if (row < p.rows) p.r[row] = sum;
}

}  // namespace

template <int block, int unroll, int chunk>
void shared(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  shared_kernel<unroll, chunk><<<(args.rows - 1) / block + 1, block, 0, stream>>>(args);
}

template void shared<256, 8, 1024>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
