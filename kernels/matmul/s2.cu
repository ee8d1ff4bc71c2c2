// SPDX-License-Identifier: Apache-2.0
//
// S2's two listings, from the CUDA C Programming Guide, in their own form: matrices as structs by
// value, int indices, BLOCK_SIZE 16, no guards, a grid that rounds down. The second cuts tiles out
// with GetSubMatrix, whose stride is the original's width, and has its static arrays in the loop.
// Sources: S2 first and second MatMulKernel (A05, A06). The third kernel here is not one of its
// listings: S2 only asks, in a comment, why one would not stage the whole height and width (A09).
// It is the second listing with its loop cut in two: it stages all tiles first, then multiplies.
// Its arrays grow with the width, so they are dynamic.

#include "../launch.hpp"
#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

constexpr int block_size = 16;

struct Matrix {
  int width, height;
  float* elements;
};

/// Each row starts `stride` elements after the previous one.
struct Strided {
  int width, height, stride;
  float* elements;
};

__device__ float get_element(const Strided a, int row, int col) {
  return a.elements[row * a.stride + col];
}

__device__ void set_element(Strided a, int row, int col, float value) {
  a.elements[row * a.stride + col] = value;
}

/// The sub-matrix that lies `col` sub-matrices to the right and `row` down.
__device__ Strided get_submatrix(Strided a, int row, int col) {
  Strided sub;
  sub.width = block_size;
  sub.height = block_size;
  sub.stride = a.stride;
  sub.elements = &a.elements[a.stride * block_size * row + block_size * col];
  return sub;
}

__global__ void guide_global_kernel(Matrix a, Matrix b, Matrix c) {
  float value = 0;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  for (int e = 0; e < a.width; ++e)
    value += a.elements[row * a.width + e] * b.elements[e * b.width + col];
  c.elements[row * c.width + col] = value;
}

__global__ void guide_shared_kernel(Strided a, Strided b, Strided c) {
  const int block_row = blockIdx.y, block_col = blockIdx.x;
  const Strided c_sub = get_submatrix(c, block_row, block_col);
  float value = 0;
  const int row = threadIdx.y, col = threadIdx.x;
  for (int m = 0; m < (a.width / block_size); ++m) {
    const Strided a_sub = get_submatrix(a, block_row, m);
    const Strided b_sub = get_submatrix(b, m, block_col);
    __shared__ float as[block_size][block_size];
    __shared__ float bs[block_size][block_size];
    as[row][col] = get_element(a_sub, row, col);
    bs[row][col] = get_element(b_sub, row, col);
    __syncthreads();  // the tiles are whole
    for (int e = 0; e < block_size; ++e) value += as[row][e] * bs[e][col];
    __syncthreads();  // the tiles may be overwritten
  }
  set_element(c_sub, row, col, value);
}

__global__ void guide_full_strips_kernel(Strided a, Strided b, Strided c) {
  extern __shared__ float strips[];
  float* as = strips;                         // (block_size, a.width)
  float* bs = strips + block_size * a.width;  // (a.width, block_size)
  const int block_row = blockIdx.y, block_col = blockIdx.x;
  const Strided c_sub = get_submatrix(c, block_row, block_col);
  float value = 0;
  const int row = threadIdx.y, col = threadIdx.x;
  for (int m = 0; m < (a.width / block_size); ++m) {
    as[row * a.width + m * block_size + col] =
        get_element(get_submatrix(a, block_row, m), row, col);
    bs[(m * block_size + row) * block_size + col] =
        get_element(get_submatrix(b, m, block_col), row, col);
  }
  __syncthreads();  // nothing overwrites the strips
  for (int e = 0; e < a.width; ++e) value += as[row * a.width + e] * bs[e * block_size + col];
  set_element(c_sub, row, col, value);
}

// the guide's structs have writable elements
Matrix matrix(const float* elements, int height, int width) {
  return {width, height, const_cast<float*>(elements)};
}
Strided strided(const float* elements, int height, int width) {
  return {width, height, width, const_cast<float*>(elements)};
}

template <auto kernel, auto make>
void launch(const MatmulArgs& args, std::int64_t shared, cudaStream_t stream) {
  const dim3 block(block_size, block_size);
  const dim3 grid(args.n / block.x, args.m / block.y);
  kernel<<<grid, block, shared, stream>>>(
      make(args.a, args.m, args.k), make(args.b, args.k, args.n), make(args.c, args.m, args.n));
}

}  // namespace

void s2_global(const MatmulArgs& args, cudaStream_t stream) {
  launch<guide_global_kernel, matrix>(args, 0, stream);
}

void s2_shared(const MatmulArgs& args, cudaStream_t stream) {
  launch<guide_shared_kernel, strided>(args, 0, stream);
}

void s2_full_strips(const MatmulArgs& args, cudaStream_t stream) {
  const std::int64_t bytes = full_strip_shared_bytes(block_size, args.k);
  if (allow_shared(guide_full_strips_kernel, bytes))
    launch<guide_full_strips_kernel, strided>(args, bytes, stream);
}

}  // namespace recheck::kernels::matmul
