// SPDX-License-Identifier: Apache-2.0
//
// S3's first kernel in its own form: one thread per row, an unsigned 32-bit index into the matrix
// where naive.cu has 64-bit pointers, a loop unrolled by four. Source: S3 mxvNaive (A13). The
// loop's body is lost in the listing but given in the text after it. S3 gives no block size.

#include "s3.cuh"

namespace recheck::kernels::matvec {
namespace {

template <int unroll, typename Id, bool is_restrict>
__global__ void s3_naive_kernel(int row_size, int column_size, int column_pitch,
                                In<is_restrict> d_matrix, In<is_restrict> d_vec,
                                Out<is_restrict> d_r) {
  const Id id = static_cast<Id>(blockDim.x) * blockIdx.x + threadIdx.x;
  if (row_size <= id) return;
  float temp = 0.0f;
#pragma unroll unroll
  for (int i = 0; i < column_size; ++i) temp += d_matrix[id * column_pitch + i] * d_vec[i];
  d_r[id] = temp;
}

}  // namespace

template <int block, int unroll, int index, bool is_restrict>
void s3_naive(const MatvecArgs& p, cudaStream_t stream) {
  if (p.rows == 0) return;
  using Id = std::conditional_t<index == 64, std::int64_t, unsigned>;
  s3_naive_kernel<unroll, Id, is_restrict><<<blocks_for(p.rows, block), block, 0, stream>>>(
      p.rows, p.columns, counted_pitch(p, p.rows, index == 64 ? 62 : 32), p.a, p.v, p.r);
}

template void s3_naive<32, 4, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_naive<64, 4, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_naive<128, 4, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_naive<256, 4, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_naive<512, 4, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_naive<1024, 4, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_naive<256, 1, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_naive<256, 8, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_naive<256, 16, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_naive<256, 4, 64, false>(const MatvecArgs&, cudaStream_t);
template void s3_naive<256, 4, 32, true>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
