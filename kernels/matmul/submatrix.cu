// SPDX-License-Identifier: Apache-2.0
//
// The 1-deep tile in the form of the CUDA C Programming Guide: matrices are passed as Matrix{width,
// height, stride, elements}, and each phase cuts its tiles out with GetSubMatrix, whose stride is
// the width of the original. Source: S2 second MatMulKernel (A06). It is a separate row because the
// compiler sees other code: addresses are computed again for each tile. The guide assumes multiples
// of the tile; here elements outside the matrix read as zero and are not written.

#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

template <typename T>
struct Matrix {
  int width, height;
  std::int64_t stride;
  T* elements;
};

template <typename T>
__device__ float get_element(Matrix<T> m, int row, int col) {
  return row < m.height && col < m.width ? m.elements[row * m.stride + col] : 0.0f;
}

__device__ void set_element(Matrix<float> m, int row, int col, float value) {
  if (row < m.height && col < m.width) m.elements[row * m.stride + col] = value;
}

/// The tile×tile sub-matrix that lies `col` tiles to the right and `row` tiles down; smaller at the
/// edges.
template <int tile, typename T>
__device__ Matrix<T> get_submatrix(Matrix<T> m, int row, int col) {
  return {min(tile, m.width - tile * col), min(tile, m.height - tile * row), m.stride,
          m.elements + m.stride * tile * row + tile * col};
}

template <int tile>
__global__ void __launch_bounds__(tile* tile)
    submatrix_kernel(Matrix<const float> a, Matrix<const float> b, Matrix<float> c) {
  __shared__ float as[tile][tile];
  __shared__ float bs[tile][tile];
  const int row = threadIdx.y, col = threadIdx.x;  // within the tile of C
  const Matrix<float> c_sub = get_submatrix<tile>(c, blockIdx.y, blockIdx.x);

  float value = 0;
  for (int t = 0; t < (a.width + tile - 1) / tile; ++t) {
    as[row][col] = get_element(get_submatrix<tile>(a, blockIdx.y, t), row, col);
    bs[row][col] = get_element(get_submatrix<tile>(b, t, blockIdx.x), row, col);
    __syncthreads();  // the tiles are whole
    for (int e = 0; e < tile; ++e) value += as[row][e] * bs[e][col];
    __syncthreads();  // the tiles may be overwritten
  }
  set_element(c_sub, row, col, value);
}

}  // namespace

template <int tile_size>
void submatrix(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  const Matrix<const float> a{args.k, args.m, args.lda, args.a};
  const Matrix<const float> b{args.n, args.k, args.ldb, args.b};
  const Matrix<float> c{args.n, args.m, args.ldc, args.c};
  const dim3 grid((args.n + tile_size - 1) / tile_size, (args.m + tile_size - 1) / tile_size);
  submatrix_kernel<tile_size><<<grid, dim3(tile_size, tile_size), 0, stream>>>(a, b, c);
}

template void submatrix<16>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
