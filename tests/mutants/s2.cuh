// SPDX-License-Identifier: Apache-2.0
#pragma once

// S2's second listing without one of its barriers, and nothing else changed.

#include "../../kernels/matmul/matmul.hpp"

namespace recheck::mutants {

enum class S2Defect { none, first_barrier_missing, second_barrier_missing };

struct SubMatrix {
  int stride;
  float* elements;
  __device__ float& at(int row, int col) const { return elements[row * stride + col]; }
  [[nodiscard]] __device__ SubMatrix sub(int row, int col) const {
    return {stride, &elements[stride * 16 * row + 16 * col]};
  }
};

template <S2Defect defect>
__global__ void s2_kernel(SubMatrix a, SubMatrix b, SubMatrix c, int width) {
  const int block_row = blockIdx.y, block_col = blockIdx.x;
  const SubMatrix c_sub = c.sub(block_row, block_col);
  float value = 0;
  const int row = threadIdx.y, col = threadIdx.x;
  for (int m = 0; m < width / 16; ++m) {
    const SubMatrix a_sub = a.sub(block_row, m), b_sub = b.sub(m, block_col);
    __shared__ float as[16][16];
    __shared__ float bs[16][16];
    as[row][col] = a_sub.at(row, col);
    bs[row][col] = b_sub.at(row, col);
    if (defect != S2Defect::first_barrier_missing) __syncthreads();
    for (int e = 0; e < 16; ++e) value += as[row][e] * bs[e][col];
    if (defect != S2Defect::second_barrier_missing) __syncthreads();
  }
  c_sub.at(row, col) = value;
}

template <S2Defect defect>
void s2(const kernels::matmul::MatmulArgs& p, cudaStream_t stream) {
  s2_kernel<defect><<<dim3(p.n / 16, p.m / 16), dim3(16, 16), 0, stream>>>(
      {p.k, const_cast<float*>(p.a)}, {p.n, const_cast<float*>(p.b)}, {p.n, p.c}, p.k);
}

}  // namespace recheck::mutants
