// SPDX-License-Identifier: Apache-2.0
//
// S3's first kernel in its own form: one thread per row, an unsigned 32-bit index into the matrix
// where naive.cu has 64-bit pointers, a loop unrolled by four. Source: S3 mxvNaive (A13). The
// loop's body is lost in the listing but given in the text after it. S3 gives no block size.

#include "s3.cuh"

namespace recheck::kernels::matvec {
namespace {

template <int unroll>
__global__ void s3_naive_kernel(int row_size, int column_size, int column_pitch,
                                const float* d_matrix, const float* d_vec, float* d_r) {
  const unsigned id = blockDim.x * blockIdx.x + threadIdx.x;
  if (row_size <= id) return;
  float temp = 0.0f;
#pragma unroll unroll
  for (int i = 0; i < column_size; ++i) temp += d_matrix[id * column_pitch + i] * d_vec[i];
  d_r[id] = temp;
}

}  // namespace

template <int block, int unroll>
void s3_naive(const MatvecArgs& p, cudaStream_t stream) {
  if (p.rows == 0) return;
  s3_naive_kernel<unroll><<<blocks_for(p.rows, block), block, 0, stream>>>(
      p.rows, p.columns, counted_pitch(p, p.rows, 32), p.a, p.v, p.r);
}

template void s3_naive<32, 4>(const MatvecArgs&, cudaStream_t);
template void s3_naive<64, 4>(const MatvecArgs&, cudaStream_t);
template void s3_naive<128, 4>(const MatvecArgs&, cudaStream_t);
template void s3_naive<256, 4>(const MatvecArgs&, cudaStream_t);
template void s3_naive<512, 4>(const MatvecArgs&, cudaStream_t);
template void s3_naive<1024, 4>(const MatvecArgs&, cudaStream_t);
template void s3_naive<256, 1>(const MatvecArgs&, cudaStream_t);
template void s3_naive<256, 8>(const MatvecArgs&, cudaStream_t);
template void s3_naive<256, 16>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
