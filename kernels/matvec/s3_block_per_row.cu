// SPDX-License-Identifier: Apache-2.0
//
// S3's one block per row in its own form: restricted pointers, an unsigned 32-bit index, dynamic
// shared memory for the reduction. Source: S3 mxvBlock (A18), which breaks off where it reads the
// matrix. The remainder is reconstructed: the rest of the product as in the other listings, and the
// tree of that time in s_r, which is declared and has no other possible use.

#include "s3.cuh"

namespace recheck::kernels::matvec {
namespace {

__global__ void s3_block_per_row_kernel(int /*row_size*/, int column_size, int pitch_item,
                                        const float* __restrict__ d_matrix,
                                        const float* __restrict__ d_vec, float* __restrict__ d_r) {
  const unsigned tid = threadIdx.x;
  extern __shared__ float s_r[];
  float temp = 0.0f;
  for (int i = tid; i < column_size; i += blockDim.x)
    temp += d_matrix[blockIdx.x * pitch_item + i] * d_vec[i];
  s_r[tid] = temp;
  __syncthreads();  // all sums are written
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (tid < half) s_r[tid] += s_r[tid + half];
    __syncthreads();  // the sums of this round are written
  }
  if (tid == 0) d_r[blockIdx.x] = s_r[0];
}

}  // namespace

template <int block>
void s3_block_per_row(const MatvecArgs& p, cudaStream_t stream) {
  static_assert((block & (block - 1)) == 0, "the tree halves the block");
  if (p.rows == 0) return;
  s3_block_per_row_kernel<<<p.rows, block, block * sizeof(float), stream>>>(
      p.rows, p.columns, counted_pitch(p, p.rows, 32), p.a, p.v, p.r);
}

template void s3_block_per_row<32>(const MatvecArgs&, cudaStream_t);
template void s3_block_per_row<64>(const MatvecArgs&, cudaStream_t);
template void s3_block_per_row<128>(const MatvecArgs&, cudaStream_t);
template void s3_block_per_row<256>(const MatvecArgs&, cudaStream_t);
template void s3_block_per_row<512>(const MatvecArgs&, cudaStream_t);
template void s3_block_per_row<1024>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
