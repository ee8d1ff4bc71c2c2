// SPDX-License-Identifier: Apache-2.0
//
// The starting point of every document: one thread computes one element of C and reads its row of A
// and its column of B straight from global memory, 2k loads for k multiply-adds. The threads of a
// warp share the row (a broadcast) and read neighbouring columns (coalesced), so only reuse is left
// to gain. The documents have no bounds guard; S2 notes that they ought to. Sources: S0 "previous
// article" (A02), S1 matrix_kernel_0 (A03), S2 first MatMulKernel (A05).

#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

template <int block>
__global__ void __launch_bounds__(block* block) global_kernel(MatmulArgs p) {
  const int row = blockIdx.y * block + threadIdx.y;
  const int col = blockIdx.x * block + threadIdx.x;
  if (row >= p.m || col >= p.n) return;

  const float* a = p.a + row * p.lda;  // (k)
  const float* b = p.b + col;          // (k), stride ldb
  float sum = 0;
  for (int e = 0; e < p.k; ++e) sum += a[e] * b[e * p.ldb];
  p.c[row * p.ldc + col] = sum;
}

}  // namespace

template <int block>
void global(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  const dim3 grid((args.n + block - 1) / block, (args.m + block - 1) / block);
  global_kernel<block><<<grid, dim3(block, block), 0, stream>>>(args);
}

template void global<16>(const MatmulArgs&, cudaStream_t);
template void global<32>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
