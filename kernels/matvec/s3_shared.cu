// SPDX-License-Identifier: Apache-2.0
//
// S3's kernel with the vector in shared memory in its own form: dynamic shared memory, whose size
// is an argument, an unsigned 32-bit index into the matrix, loops unrolled by four and by eight.
// Source: S3 mxvNaiveTransposeShared (A16). The body of its guard in the loop is lost. The write at
// the end has its own guard and barriers follow, so here the guard continues with the next chunk.
// S3 gives neither block nor sharedSize: here a chunk has one word for each thread of the block.

#include "s3.cuh"

namespace recheck::kernels::matvec {
namespace {

/// Step is the type of i · pitch, and Id the type of the index added to it.
template <int unroll, typename Step, typename Id, bool is_restrict>
__global__ void s3_shared_kernel(int row_size, int column_size, int column_pitch,
                                 In<is_restrict> d_matrix, In<is_restrict> d_v,
                                 const int shared_size, Out<is_restrict> d_r) {
  const Id id = static_cast<Id>(blockDim.x) * blockIdx.x + threadIdx.x;
  float temp = 0.0f;
  extern __shared__ float s_v[];
  for (int start = 0; start < row_size; start += shared_size) {
    __syncthreads();  // the previous chunk may be overwritten
#pragma unroll 4
    for (int i = threadIdx.x; i < shared_size && i + start < row_size; i += blockDim.x)
      s_v[i] = d_v[start + i];
    __syncthreads();  // the chunk is whole
    if (column_size <= id) continue;
    const int end = start + shared_size > row_size ? row_size : start + shared_size;
#pragma unroll unroll
    for (int i = start; i < end; ++i)
      temp += d_matrix[static_cast<Step>(i) * column_pitch + id] * s_v[i - start];
  }
  if (id < column_size) d_r[id] = temp;
}

}  // namespace

template <int block, int unroll, int chunk, int index, bool is_restrict>
void s3_shared(const MatvecArgs& p, cudaStream_t stream) {
  if (p.rows == 0) return;
  using Step = std::conditional_t<index == 64, std::int64_t, int>;
  using Id = std::conditional_t<index == 64, std::int64_t, unsigned>;
  s3_shared_kernel<unroll, Step, Id, is_restrict>
      <<<blocks_for(p.rows, block), block, chunk * sizeof(float), stream>>>(
          p.columns, p.rows, counted_pitch(p, p.columns, index == 64 ? 62 : 31), p.a, p.v, chunk,
          p.r);
}

template void s3_shared<32, 8, 32, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<64, 8, 64, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<128, 8, 128, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<256, 8, 256, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<512, 8, 512, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<1024, 8, 1024, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<256, 1, 256, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<256, 4, 256, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<256, 16, 256, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<256, 8, 64, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<256, 8, 1024, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<256, 8, 4096, 32, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<256, 8, 256, 64, false>(const MatvecArgs&, cudaStream_t);
template void s3_shared<256, 8, 256, 32, true>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
