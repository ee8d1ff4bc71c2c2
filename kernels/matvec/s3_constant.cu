// SPDX-License-Identifier: Apache-2.0
//
// S3's kernel with the vector in constant memory in its own form: each launch takes one batch and
// adds to d_r, which must be cleared before the first; the loop has no pragma. Source: S3
// mxvNaiveTransposeConstant (A15), whose guard and end of batch are half lost. S3 does not give
// CONSTANTSIZE (here all of the 64 KB) or say where d_r is cleared (here by a memset in the
// launcher).

#include <algorithm>

#include "../one_stream.hpp"
#include "s3.cuh"

namespace recheck::kernels::matvec {
namespace {

constexpr int constant_size = constant_batch;

__constant__ float c_v[constant_size];
OneStream c_v_users;

template <int unroll>
__global__ void s3_constant_kernel(int row_size, int column_size, int column_pitch,
                                   const float* d_matrix, const int start, float* d_r) {
  const unsigned id = blockDim.x * blockIdx.x + threadIdx.x;
  if (column_size <= id) return;
  float temp = 0.0f;
  const int end = start + constant_size > row_size ? row_size : start + constant_size;
  walk<unroll>(start, end,
               [&](int i) { temp += d_matrix[i * column_pitch + id] * c_v[i - start]; });
  d_r[id] += temp;
}

}  // namespace

template <int block, int unroll>
void s3_constant(const MatvecArgs& p, cudaStream_t stream) {
  if (p.rows == 0) return;
  const int pitch = counted_pitch(p, p.columns, 31);
  c_v_users.in_turn(stream, [&] {
    cudaMemsetAsync(p.r, 0, p.rows * sizeof(float), stream);
    for (int start = 0; start < p.columns; start += constant_size) {
      const int count = std::min(p.columns - start, constant_size);
      cudaMemcpyToSymbolAsync(c_v, p.v + start, count * sizeof(float), 0, cudaMemcpyDeviceToDevice,
                              stream);
      s3_constant_kernel<unroll><<<blocks_for(p.rows, block), block, 0, stream>>>(
          p.columns, p.rows, pitch, p.a, start, p.r);
    }
  });
}

template void s3_constant<32, 0>(const MatvecArgs&, cudaStream_t);
template void s3_constant<64, 0>(const MatvecArgs&, cudaStream_t);
template void s3_constant<128, 0>(const MatvecArgs&, cudaStream_t);
template void s3_constant<256, 0>(const MatvecArgs&, cudaStream_t);
template void s3_constant<512, 0>(const MatvecArgs&, cudaStream_t);
template void s3_constant<1024, 0>(const MatvecArgs&, cudaStream_t);
template void s3_constant<256, 1>(const MatvecArgs&, cudaStream_t);
template void s3_constant<512, 1>(const MatvecArgs&, cudaStream_t);
template void s3_constant<1024, 1>(const MatvecArgs&, cudaStream_t);
template void s3_constant<256, 4>(const MatvecArgs&, cudaStream_t);
template void s3_constant<256, 8>(const MatvecArgs&, cudaStream_t);
template void s3_constant<256, 16>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
