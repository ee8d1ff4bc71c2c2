// SPDX-License-Identifier: Apache-2.0
//
// Still one thread per row, but A is stored by columns: in every step a warp reads 32 neighbouring
// words, four full sectors. S3 calls this the transposed matrix. It is the same product in the
// other storage order, so rows and columns keep their meaning here (S3 silently swaps them).
// Source: S3, the loop after "矩陣轉置" (A14).

#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

template <int unroll>
__global__ void transposed_kernel(MatvecArgs p) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (row >= p.rows) return;
  float sum = 0;
#pragma unroll unroll
  for (int j = 0; j < p.columns; ++j) sum += line(p, j)[row] * p.v[j];
  p.r[row] = sum;
}

}  // namespace

template <int block, int unroll>
void transposed(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  transposed_kernel<unroll><<<(args.rows - 1) / block + 1, block, 0, stream>>>(args);
}

template void transposed<256, 4>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
