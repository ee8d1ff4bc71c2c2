// SPDX-License-Identifier: Apache-2.0
//
// Launches S3's loop over the transposed matrix (A14). S3 does not give the type of the index, so
// there is a 64-bit version as well.

#include <type_traits>

#include "s3_transposed.cuh"

namespace recheck::kernels::matvec {

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
