// SPDX-License-Identifier: Apache-2.0
//
// S3's loop over the transposed matrix in its own form. The document shows only the loop, without a
// pragma (A14). The index, the guard and the rest are mxvNaive's, as in the kernels after it. S3
// does not give the type of the index, so there is a 64-bit version as well.

#include "s3.cuh"

namespace recheck::kernels::matvec {
namespace {

/// i · pitch is computed as a Step, to which an Id is added: int and unsigned as in S3's other
/// listings, or both 64 bits wide.
template <int unroll, typename Step, typename Id, bool is_restrict>
__global__ void s3_transposed_kernel(int row_size, int column_size, int column_pitch,
                                     In<is_restrict> d_matrix, In<is_restrict> d_vec,
                                     Out<is_restrict> d_r) {
  const Id id = static_cast<Id>(blockDim.x) * blockIdx.x + threadIdx.x;
  if (column_size <= id) return;
  float temp = 0.0f;
  walk<unroll>(0, row_size, [&](int i) {
    temp += d_matrix[static_cast<Step>(i) * column_pitch + id] * d_vec[i];
  });
  d_r[id] = temp;
}

}  // namespace

template <int block, int unroll, int index, bool is_restrict>
void s3_transposed(const MatvecArgs& p, cudaStream_t stream) {
  if (p.rows == 0) return;
  using Step = std::conditional_t<index == 64, std::int64_t, int>;
  using Id = std::conditional_t<index == 64, std::int64_t, unsigned>;
  s3_transposed_kernel<unroll, Step, Id, is_restrict>
      <<<blocks_for(p.rows, block), block, 0, stream>>>(
          p.columns, p.rows, counted_pitch(p, p.columns, index == 64 ? 62 : 31), p.a, p.v, p.r);
}

template void s3_transposed<32, 0, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<64, 0, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<128, 0, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<256, 0, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<512, 0, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<1024, 0, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<256, 1, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<512, 1, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<1024, 1, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<256, 4, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<256, 8, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<256, 16, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<256, 0, 64, false>(const MatvecArgs&, cudaStream_t);
template void s3_transposed<256, 0, 32, true>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
