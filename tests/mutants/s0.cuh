// SPDX-License-Identifier: Apache-2.0
#pragma once

// S0's listing, spoiled in the ways that it is itself about: without one of its barriers, at its
// own 16×16 and with nobody made to wait; and with no more changes for four-deep tiles than it
// names.

#include "../../kernels/matmul/matmul.hpp"

namespace recheck::mutants {

enum class S0Defect {
  none,
  first_barrier_missing,
  second_barrier_missing,
  depth4_outer_loop,  // shared memory four times as large, a quarter of the phases
  depth4_both_loops,  // and four times as many products in each
  depth4_inner_loop   // four tiles deep, but as many products in each phase as before
};

template <S0Defect defect>
__global__ void s0_kernel(const float* md, const float* nd, float* pd, int width) {
  constexpr bool staged = defect == S0Defect::depth4_inner_loop;
  constexpr bool deep =
      staged || defect == S0Defect::depth4_outer_loop || defect == S0Defect::depth4_both_loops;
  constexpr int tile = 16, slab = deep ? 4 * tile : tile;
  constexpr int products = defect == S0Defect::depth4_both_loops ? slab : tile;
  __shared__ float mds[tile][slab];
  __shared__ float nds[slab][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty;
  const int col = blockIdx.x * tile + tx;
  float value = 0;
  for (int k = 0; k < width / slab; ++k) {
    // as it stands, or four of each as four tiles need them
    for (int i = 0; i < (staged ? slab : tile); i += tile) {
      const int at = k * (staged ? slab : tile) + i;
      mds[ty][i + tx] = md[row * width + at + tx];
      nds[i + ty][tx] = nd[(at + ty) * width + col];
    }
    if (defect != S0Defect::first_barrier_missing) __syncthreads();
    for (int m = 0; m < products; ++m) value += mds[ty][m] * nds[m][tx];
    if (defect != S0Defect::second_barrier_missing) __syncthreads();
  }
  pd[row * width + col] = value;
}

template <S0Defect defect>
void s0(const kernels::matmul::MatmulArgs& p, cudaStream_t stream) {
  s0_kernel<defect><<<dim3(p.n / 16, p.n / 16), dim3(16, 16), 0, stream>>>(p.a, p.b, p.c, p.n);
}

}  // namespace recheck::mutants
