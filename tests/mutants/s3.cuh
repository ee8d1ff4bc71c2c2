// SPDX-License-Identifier: Apache-2.0
#pragma once

// S3's listings, spoiled in what they leave unsaid: batches that nobody clears r for, and chunks
// where the lost half of a guard is a return.

#include <algorithm>

#include "../../kernels/matvec/s3.cuh"

namespace recheck::mutants {

enum class S3Defect {
  none,
  sums_not_cleared,  // batches add to what the caller left in r
  idle_threads_return
};

// all of constant memory that a file may have
static __constant__ float c_v[kernels::matvec::constant_batch];

static __global__ void s3_batch_kernel(int row_size, int column_size, int column_pitch,
                                       const float* d_matrix, const int start, float* d_r) {
  const unsigned id = blockDim.x * blockIdx.x + threadIdx.x;
  if (column_size <= id) return;
  float temp = 0.0f;
  const int end = min(start + kernels::matvec::constant_batch, row_size);
  for (int i = start; i < end; ++i) temp += d_matrix[i * column_pitch + id] * c_v[i - start];
  d_r[id] += temp;
}

template <S3Defect defect>
void s3_batches(const kernels::matvec::MatvecArgs& p, cudaStream_t stream) {
  constexpr int size = kernels::matvec::constant_batch, block = 256;
  if (p.rows == 0) return;
  if (defect != S3Defect::sums_not_cleared) cudaMemsetAsync(p.r, 0, p.rows * sizeof(float), stream);
  for (int start = 0; start < p.columns; start += size) {
    cudaMemcpyToSymbolAsync(c_v, p.v + start, std::min(size, p.columns - start) * sizeof(float), 0,
                            cudaMemcpyDeviceToDevice, stream);
    s3_batch_kernel<<<kernels::matvec::blocks_for(p.rows, block), block, 0, stream>>>(
        p.columns, p.rows, kernels::matvec::pitch_items(p), p.a, start, p.r);
  }
}

template <S3Defect defect>
__global__ void s3_chunk_kernel(int row_size, int column_size, int column_pitch,
                                const float* d_matrix, const float* d_v, const int shared_size,
                                float* d_r) {
  const unsigned id = blockDim.x * blockIdx.x + threadIdx.x;
  float temp = 0.0f;
  extern __shared__ float s_v[];
  for (int start = 0; start < row_size; start += shared_size) {
    __syncthreads();
    for (int i = threadIdx.x; i < shared_size && i + start < row_size; i += blockDim.x)
      s_v[i] = d_v[start + i];
    __syncthreads();
    if (column_size <= id) {
      // those who leave bring no more words, whoever waits for them or not
      if (defect == S3Defect::idle_threads_return) return;
      continue;
    }
    const int end = min(start + shared_size, row_size);
    for (int i = start; i < end; ++i) temp += d_matrix[i * column_pitch + id] * s_v[i - start];
  }
  if (id < column_size) d_r[id] = temp;
}

template <S3Defect defect>
void s3_chunks(const kernels::matvec::MatvecArgs& p, cudaStream_t stream) {
  constexpr int block = 256;
  if (p.rows > 0)
    s3_chunk_kernel<defect>
        <<<kernels::matvec::blocks_for(p.rows, block), block, block * sizeof(float), stream>>>(
            p.columns, p.rows, kernels::matvec::pitch_items(p), p.a, p.v, block, p.r);
}

}  // namespace recheck::mutants
