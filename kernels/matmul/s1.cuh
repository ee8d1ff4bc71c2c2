// SPDX-License-Identifier: Apache-2.0
#pragma once

// S1's two listings in their own form: int indices, no guards, a grid that rounds down. In version
// 0 a thread adds up its element from global memory. In version 1 the block steps from tile to tile
// of A and B, with a counter for where each begins, and keeps the tiles in two static arrays that
// are declared in the loop. BLOCK_SIZE is lost; the text says 16. Sources: S1 matrix_kernel_0
// (A03), matrix_kernel_1 (A04). A wording (wordings.hpp) changes one word of them.

#include <type_traits>

#include "../walk.cuh"
#include "matmul.hpp"
#include "wordings.hpp"

namespace recheck::kernels::matmul::s1 {

constexpr int block_size = 16;

// parameters as the listing has them, or with __restrict__
template <typename Wording>
using Out = std::conditional_t<Wording::is_restrict, float* __restrict__, float*>;
template <typename Wording>
using In = std::conditional_t<Wording::is_restrict, const float* __restrict__, const float*>;

template <typename Wording>
__global__ __launch_bounds__(Wording::launch_bounds) void version_0_kernel(
    Out<Wording> c, In<Wording> a, In<Wording> b, typename Wording::Index wa,
    typename Wording::Index wb) {
  using Index = typename Wording::Index;
  float sum = 0;
  const Index row = static_cast<Index>(blockIdx.y) * blockDim.y + threadIdx.y;
  const Index col = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  walk<Wording::unroll>(Index{0}, wa, [&](Index i) { sum += a[row * wa + i] * b[i * wb + col]; });
  c[row * wb + col] = sum;
}

template <typename Wording>
__global__ __launch_bounds__(Wording::launch_bounds) void version_1_kernel(
    Out<Wording> c, In<Wording> a, In<Wording> b, typename Wording::Index wa,
    typename Wording::Index wb) {
  using Index = typename Wording::Index;
  const Index bx = blockIdx.x, by = blockIdx.y;
  const Index tx = threadIdx.x, ty = threadIdx.y;
  const Index a_begin = wa * (by * block_size);
  const Index a_end = a_begin + wa - 1;
  const Index a_step = block_size;
  const Index b_begin = block_size * bx;
  const Index b_step = block_size * wb;

  float sum = 0;
  for (Index at_a = a_begin, at_b = b_begin; at_a <= a_end; at_a += a_step, at_b += b_step) {
    alignas(Wording::align) __shared__ float as[block_size][block_size + Wording::a_padding];
    alignas(Wording::align) __shared__ float bs[block_size][block_size + Wording::b_padding];
    as[ty][tx] = a[at_a + wa * ty + tx];
    bs[ty][tx] = b[at_b + wb * ty + tx];
    __syncthreads();  // the tiles are whole
    walk<Wording::unroll>(Index{0}, Index{block_size},
                          [&](Index k) { sum += as[ty][k] * bs[k][tx]; });
    __syncthreads();  // the tiles may be overwritten
  }
  c[(by * block_size + ty) * wb + (bx * block_size + tx)] = sum;
}

template <auto kernel>
void launch(const MatmulArgs& args, cudaStream_t stream) {
  const dim3 threads(block_size, block_size), blocks(args.n / block_size, args.m / block_size);
  kernel<<<blocks, threads, 0, stream>>>(args.c, args.a, args.b, args.k, args.n);
}

}  // namespace recheck::kernels::matmul::s1

namespace recheck::kernels::matmul {

template <typename Wording>
void s1_kernel_0(const MatmulArgs& args, cudaStream_t stream) {
  s1::launch<s1::version_0_kernel<Wording>>(args, stream);
}

template <typename Wording>
void s1_kernel_1(const MatmulArgs& args, cudaStream_t stream) {
  s1::launch<s1::version_1_kernel<Wording>>(args, stream);
}

}  // namespace recheck::kernels::matmul
