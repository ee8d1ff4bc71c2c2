// SPDX-License-Identifier: Apache-2.0
//
// S1's two listings in their own form: int indices, no guards, a grid that rounds down. In version
// 0 a thread adds up its element from global memory. In version 1 the block steps from tile to tile
// of A and B, with a counter for where each begins, and keeps the tiles in two static arrays that
// are declared in the loop. BLOCK_SIZE is lost; the text says 16. Sources: S1 matrix_kernel_0
// (A03), matrix_kernel_1 (A04).

#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

constexpr int block_size = 16;

__global__ void version_0_kernel(float* c, const float* a, const float* b, int wa, int wb) {
  float sum = 0;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < wa; ++i) sum += a[row * wa + i] * b[i * wb + col];
  c[row * wb + col] = sum;
}

__global__ void version_1_kernel(float* c, const float* a, const float* b, int wa, int wb) {
  const int bx = blockIdx.x, by = blockIdx.y;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int a_begin = wa * (by * block_size);
  const int a_end = a_begin + wa - 1;
  const int a_step = block_size;
  const int b_begin = block_size * bx;
  const int b_step = block_size * wb;

  float sum = 0;
  for (int at_a = a_begin, at_b = b_begin; at_a <= a_end; at_a += a_step, at_b += b_step) {
    __shared__ float as[block_size][block_size];
    __shared__ float bs[block_size][block_size];
    as[ty][tx] = a[at_a + wa * ty + tx];
    bs[ty][tx] = b[at_b + wb * ty + tx];
    __syncthreads();  // the tiles are whole
    for (int k = 0; k < block_size; ++k) sum += as[ty][k] * bs[k][tx];
    __syncthreads();  // the tiles may be overwritten
  }
  c[(by * block_size + ty) * wb + (bx * block_size + tx)] = sum;
}

template <auto kernel>
void launch(const MatmulArgs& args, cudaStream_t stream) {
  const dim3 threads(block_size, block_size), blocks(args.n / block_size, args.m / block_size);
  kernel<<<blocks, threads, 0, stream>>>(args.c, args.a, args.b, args.k, args.n);
}

}  // namespace

void s1_kernel_0(const MatmulArgs& args, cudaStream_t stream) {
  launch<version_0_kernel>(args, stream);
}

void s1_kernel_1(const MatmulArgs& args, cudaStream_t stream) {
  launch<version_1_kernel>(args, stream);
}

}  // namespace recheck::kernels::matmul
