// SPDX-License-Identifier: Apache-2.0
//
// S3's one warp per row, whose listing is lost completely (A19): reconstructed from the sentence
// that announces it, "explicit use of warps", in the form of its one block per row. Each warp adds
// up in 32 words of the dynamic shared memory. In 2010 the lanes of a warp ran in step and needed
// no barrier; since Volta they need __syncwarp.

#include "s3.cuh"

namespace recheck::kernels::matvec {
namespace {

__global__ void s3_warp_per_row_kernel(int row_size, int column_size, int pitch_item,
                                       const float* __restrict__ d_matrix,
                                       const float* __restrict__ d_vec, float* __restrict__ d_r) {
  const unsigned tid = threadIdx.x, lane = tid % 32;
  const unsigned row = (blockDim.x * blockIdx.x + tid) / 32;
  if (row_size <= row) return;  // the whole warp
  extern __shared__ float s_r[];
  float temp = 0.0f;
  for (int i = lane; i < column_size; i += 32) temp += d_matrix[row * pitch_item + i] * d_vec[i];
  s_r[tid] = temp;
  for (unsigned half = 16; half > 0; half /= 2) {
    __syncwarp();
    if (lane < half) s_r[tid] += s_r[tid + half];
  }
  if (lane == 0) d_r[row] = s_r[tid];
}

}  // namespace

template <int block>
void s3_warp_per_row(const MatvecArgs& p, cudaStream_t stream) {
  if (p.rows == 0) return;
  s3_warp_per_row_kernel<<<blocks_for(p.rows, block / 32), block, block * sizeof(float), stream>>>(
      p.rows, p.columns, counted_pitch(p, p.rows, 32), p.a, p.v, p.r);
}

template void s3_warp_per_row<32>(const MatvecArgs&, cudaStream_t);
template void s3_warp_per_row<64>(const MatvecArgs&, cudaStream_t);
template void s3_warp_per_row<128>(const MatvecArgs&, cudaStream_t);
template void s3_warp_per_row<256>(const MatvecArgs&, cudaStream_t);
template void s3_warp_per_row<512>(const MatvecArgs&, cudaStream_t);
template void s3_warp_per_row<1024>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
