// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "second.hpp"

namespace recheck::second {
namespace {

// Matrix products.

// BLOCK_SIZE of S1 and S2, tile_width of S0.
constexpr int kBlockSize = 16;
constexpr int kTileWidth = 16;
// How many tiles make one tile in section 4 of S0.
constexpr int kDepth = 4;

// S1, "Computing version 0". Restored: small letters of the keywords, split names.
__global__ void s1_version_0(float* c, const float* a, const float* b, int wa, int wb) {
  float sum = 0;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < wa; ++i) {
    sum += a[row * wa + i] * b[i * wb + col];
  }
  c[row * wb + col] = sum;
}

// S1, "Computing version 1". Restored: small letters, split names, the running "B" of the loop as
// a variable of its own.
__global__ void s1_version_1(float* c, const float* a, const float* b, int wa, int wb) {
  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int a_begin = wa * (by * kBlockSize);
  int a_end = a_begin + wa - 1;
  int a_step = kBlockSize;
  int b_begin = kBlockSize * bx;
  int b_step = kBlockSize * wb;
  float c_sub = 0;
  for (int at_a = a_begin, at_b = b_begin; at_a <= a_end; at_a += a_step, at_b += b_step) {
    __shared__ float as[kBlockSize][kBlockSize];
    __shared__ float bs[kBlockSize][kBlockSize];
    as[ty][tx] = a[at_a + wa * ty + tx];
    bs[ty][tx] = b[at_b + wb * ty + tx];
    __syncthreads();
    for (int k = 0; k < kBlockSize; ++k) {
      c_sub += as[ty][k] * bs[k][tx];
    }
    __syncthreads();
  }
  int c_index = (by * kBlockSize + ty) * wb + (bx * kBlockSize + tx);
  c[c_index] = c_sub;
}

// S2, the struct of the first listing. Nothing restored but the line breaks.
struct Matrix {
  int width;
  int height;
  float* elements;
};

// S2, first listing, MatMulKernel. Nothing restored but the line breaks.
__global__ void s2_mat_mul_global(Matrix a, Matrix b, Matrix c) {
  float c_value = 0;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  for (int e = 0; e < a.width; ++e)
    c_value += a.elements[row * a.width + e] * b.elements[e * b.width + col];
  c.elements[row * c.width + col] = c_value;
}

// S2, the struct of the second listing. Renamed: both listings call theirs Matrix.
struct StridedMatrix {
  int width;
  int height;
  int stride;
  float* elements;
};

// S2, second listing, GetElement. Nothing restored.
__device__ float get_element(const StridedMatrix a, int row, int col) {
  return a.elements[row * a.stride + col];
}

// S2, second listing, SetElement. Nothing restored.
__device__ void set_element(StridedMatrix a, int row, int col, float value) {
  a.elements[row * a.stride + col] = value;
}

// S2, second listing, GetSubMatrix. Restored: BLOCK_SIZE stands before its use.
__device__ StridedMatrix get_sub_matrix(StridedMatrix a, int row, int col) {
  StridedMatrix a_sub;
  a_sub.width = kBlockSize;
  a_sub.height = kBlockSize;
  a_sub.stride = a.stride;
  a_sub.elements = &a.elements[a.stride * kBlockSize * row + kBlockSize * col];
  return a_sub;
}

// S2, second listing, MatMulKernel. Nothing restored but the line breaks.
__global__ void s2_mat_mul_shared(StridedMatrix a, StridedMatrix b, StridedMatrix c) {
  int block_row = blockIdx.y;
  int block_col = blockIdx.x;
  StridedMatrix c_sub = get_sub_matrix(c, block_row, block_col);
  float c_value = 0;
  int row = threadIdx.y;
  int col = threadIdx.x;
  for (int m = 0; m < (a.width / kBlockSize); ++m) {
    StridedMatrix a_sub = get_sub_matrix(a, block_row, m);
    StridedMatrix b_sub = get_sub_matrix(b, m, block_col);
    __shared__ float as[kBlockSize][kBlockSize];
    __shared__ float bs[kBlockSize][kBlockSize];
    as[row][col] = get_element(a_sub, row, col);
    bs[row][col] = get_element(b_sub, row, col);
    __syncthreads();
    for (int e = 0; e < kBlockSize; ++e) c_value += as[row][e] * bs[e][col];
    __syncthreads();
  }
  set_element(c_sub, row, col, c_value);
}

// S0, section 2, numbered lines 1 to 31. Restored: letter case, underscores of the keywords, and
// the line numbers and comments that ran into the text.
__global__ void s0_matrix_mul(const float* md, const float* nd, float* pd, int width) {
  __shared__ float mds[kTileWidth][kTileWidth];
  __shared__ float nds[kTileWidth][kTileWidth];
  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int row = by * kTileWidth + ty;
  int col = bx * kTileWidth + tx;
  float p_value = 0.0;
  for (int k = 0; k < width / kTileWidth; k++) {
    mds[ty][tx] = md[row * width + k * kTileWidth + tx];
    nds[ty][tx] = nd[(k * kTileWidth + ty) * width + col];
    __syncthreads();
    for (int m = 0; m < kTileWidth; m++) p_value += mds[ty][m] * nds[m][tx];
    __syncthreads();
  }
  pd[row * width + col] = p_value;
}

// S0, section 4, described only. A reconstruction: the listing of section 2 with the sizes of the
// shared arrays and the loop bounds changed, and four loads per thread and array.
__global__ void s0_matrix_mul_depth4(const float* md, const float* nd, float* pd, int width) {
  __shared__ float mds[kTileWidth][kTileWidth * kDepth];
  __shared__ float nds[kTileWidth * kDepth][kTileWidth];
  int bx = blockIdx.x;
  int by = blockIdx.y;
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int row = by * kTileWidth + ty;
  int col = bx * kTileWidth + tx;
  float p_value = 0.0;
  for (int k = 0; k < width / (kTileWidth * kDepth); k++) {
    for (int i = 0; i < kDepth; i++) {
      mds[ty][i * kTileWidth + tx] =
          md[row * width + k * (kTileWidth * kDepth) + i * kTileWidth + tx];
      nds[i * kTileWidth + ty][tx] =
          nd[(k * (kTileWidth * kDepth) + i * kTileWidth + ty) * width + col];
    }
    __syncthreads();
    for (int m = 0; m < kTileWidth * kDepth; m++) p_value += mds[ty][m] * nds[m][tx];
    __syncthreads();
  }
  pd[row * width + col] = p_value;
}

// Products of a matrix and a vector.

// S3, paragraphs 10 and 11, mxvNaive. Restored: the doubled lines, "<=" of the guard, and the loop
// body, which paragraph 12 prints. The last line is lost and a reconstruction.
__global__ void s3_mxv_naive(int row_size, int column_size, int column_pitch, const float* d_matrix,
                             const float* d_vec, float* d_r) {
  unsigned int id = blockDim.x * blockIdx.x + threadIdx.x;
  if (row_size <= id) return;
  float temp = 0.0f;
#pragma unroll 4
  for (int i = 0; i < column_size; i++) temp += d_matrix[id * column_pitch + i] * d_vec[i];
  d_r[id] = temp;
}

// S3, paragraph 13, the loop after the transposition. Only the loop is shown. All else is a
// reconstruction after mxvNaive and the transposed listings, the pragma included.
__global__ void s3_mxv_naive_transpose(int row_size, int column_size, int column_pitch,
                                       const float* d_matrix, const float* d_vec, float* d_r) {
  unsigned int id = blockDim.x * blockIdx.x + threadIdx.x;
  if (column_size <= id) return;
  float temp = 0.0f;
#pragma unroll 4
  for (int i = 0; i < row_size; i++) temp += d_matrix[i * column_pitch + id] * d_vec[i];
  d_r[id] = temp;
}

// S3, paragraph 15, the array c_v "of size CONSTANTSIZE". Its value is a reconstruction: all of
// the 64 KB that the document names.
__constant__ float c_v[s3_constant_size];

// S3, paragraphs 14 and 15, mxvNaiveTransposeConstant. Restored: brackets, and what stood between
// "if(columnSize" and "rowSize ?": the guard, temp, and the first half of end. No pragma there.
__global__ void s3_mxv_naive_transpose_constant(int row_size, int column_size, int column_pitch,
                                                const float* d_matrix, const int start,
                                                float* d_r) {
  unsigned int id = blockDim.x * blockIdx.x + threadIdx.x;
  if (column_size <= id) return;
  float temp = 0.0f;
  int end = start + s3_constant_size > row_size ? row_size : start + s3_constant_size;
  for (int i = start; i < end; i++) temp += d_matrix[i * column_pitch + id] * c_v[i - start];
  d_r[id] += temp;
}

// S3, paragraphs 16 to 18, mxvNaiveTransposeShared. Restored: brackets, "&&", and what stood
// between "if(columnSize" and "rowSize ?": the guard (continue, as barriers follow it) and the
// first half of end.
__global__ void s3_mxv_naive_transpose_shared(int row_size, int column_size, int column_pitch,
                                              const float* d_matrix, const float* d_v,
                                              const int shared_size, float* d_r) {
  unsigned int id = blockDim.x * blockIdx.x + threadIdx.x;
  float temp = 0.0f;
  extern __shared__ float s_v[];
  for (int start = 0; start < row_size; start += shared_size) {
    __syncthreads();
#pragma unroll 4
    for (int i = threadIdx.x; i < shared_size && i + start < row_size; i += blockDim.x) {
      s_v[i] = d_v[start + i];
    }
    __syncthreads();
    if (column_size <= id) continue;
    int end = start + shared_size > row_size ? row_size : start + shared_size;
#pragma unroll 8
    for (int i = start; i < end; i++) temp += d_matrix[i * column_pitch + id] * s_v[i - start];
  }
  if (id < column_size) d_r[id] = temp;
}

// S3, paragraph 21, mxvBlock. Restored: brackets. The text ends at "d_matrix[blockIdx"; the rest
// is a reconstruction: the index, and a tree of sums in shared memory.
__global__ void s3_mxv_block(int row_size, int column_size, int pitch_item,
                             const float* __restrict__ d_matrix, const float* __restrict__ d_vec,
                             float* __restrict__ d_r) {
  unsigned int tid = threadIdx.x;
  extern __shared__ float s_r[];
  float temp = 0.0f;
  for (int i = tid; i < column_size; i += blockDim.x) {
    temp += d_matrix[blockIdx.x * pitch_item + i] * d_vec[i];
  }
  s_r[tid] = temp;
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) s_r[tid] += s_r[tid + s];
    __syncthreads();
  }
  if (tid == 0) d_r[blockIdx.x] = s_r[0];
}

// S3, paragraph 20 announces it; the listing is lost. All a reconstruction in the style of
// mxvBlock: a warp per row, sums in shared memory. __syncwarp stands where hardware of that time
// ran a warp in step.
__global__ void s3_mxv_warp(int row_size, int column_size, int pitch_item,
                            const float* __restrict__ d_matrix, const float* __restrict__ d_vec,
                            float* __restrict__ d_r) {
  unsigned int tid = threadIdx.x;
  unsigned int lane = tid & 31;
  unsigned int row = (blockIdx.x * blockDim.x + tid) / 32;
  extern __shared__ float s_r[];
  if (row_size <= row) return;
  float temp = 0.0f;
  for (int i = lane; i < column_size; i += 32) {
    temp += d_matrix[row * pitch_item + i] * d_vec[i];
  }
  s_r[tid] = temp;
  __syncwarp();
  for (unsigned int s = 16; s > 0; s >>= 1) {
    if (lane < s) s_r[tid] += s_r[tid + s];
    __syncwarp();
  }
  if (lane == 0) d_r[row] = s_r[tid];
}

// Transposes. S3, paragraph 19, only names the sample; the form is that of the version of 2009
// with the loop over nreps inside the kernels. As there, no barrier ends a repetition: the next
// one writes the same values again.

constexpr int kTileDim = 32;
constexpr int kBlockRows = 8;

// transposeNew, copy.
__global__ void sdk_kernel_copy(float* out, float* in, int width, int height, int nreps) {
  int x = blockIdx.x * kTileDim + threadIdx.x;
  int y = blockIdx.y * kTileDim + threadIdx.y;
  int index = x + width * y;
  for (int r = 0; r < nreps; r++) {
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      out[index + i * width] = in[index + i * width];
    }
  }
}

// transposeNew, copySharedMem. The version without guards: later ones leave out the row offset.
__global__ void sdk_kernel_copy_shared(float* out, float* in, int width, int height, int nreps) {
  __shared__ float tile[kTileDim][kTileDim];
  int x = blockIdx.x * kTileDim + threadIdx.x;
  int y = blockIdx.y * kTileDim + threadIdx.y;
  int index = x + width * y;
  for (int r = 0; r < nreps; r++) {
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      tile[threadIdx.y + i][threadIdx.x] = in[index + i * width];
    }
    __syncthreads();
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      out[index + i * width] = tile[threadIdx.y + i][threadIdx.x];
    }
  }
}

// transposeNew, transposeNaive.
__global__ void sdk_kernel_naive(float* out, float* in, int width, int height, int nreps) {
  int x = blockIdx.x * kTileDim + threadIdx.x;
  int y = blockIdx.y * kTileDim + threadIdx.y;
  int index_in = x + width * y;
  int index_out = y + height * x;
  for (int r = 0; r < nreps; r++) {
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      out[index_out + i] = in[index_in + i * width];
    }
  }
}

// transposeNew, transposeCoalesced.
__global__ void sdk_kernel_coalesced(float* out, float* in, int width, int height, int nreps) {
  __shared__ float tile[kTileDim][kTileDim];
  int x = blockIdx.x * kTileDim + threadIdx.x;
  int y = blockIdx.y * kTileDim + threadIdx.y;
  int index_in = x + y * width;
  x = blockIdx.y * kTileDim + threadIdx.x;
  y = blockIdx.x * kTileDim + threadIdx.y;
  int index_out = x + y * height;
  for (int r = 0; r < nreps; r++) {
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      tile[threadIdx.y + i][threadIdx.x] = in[index_in + i * width];
    }
    __syncthreads();
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      out[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];
    }
  }
}

// transposeNew, transposeNoBankConflicts.
__global__ void sdk_kernel_no_bank_conflicts(float* out, float* in, int width, int height,
                                             int nreps) {
  __shared__ float tile[kTileDim][kTileDim + 1];
  int x = blockIdx.x * kTileDim + threadIdx.x;
  int y = blockIdx.y * kTileDim + threadIdx.y;
  int index_in = x + y * width;
  x = blockIdx.y * kTileDim + threadIdx.x;
  y = blockIdx.x * kTileDim + threadIdx.y;
  int index_out = x + y * height;
  for (int r = 0; r < nreps; r++) {
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      tile[threadIdx.y + i][threadIdx.x] = in[index_in + i * width];
    }
    __syncthreads();
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      out[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];
    }
  }
}

// transposeNew, transposeCoarseGrained.
__global__ void sdk_kernel_coarse_grained(float* out, float* in, int width, int height, int nreps) {
  __shared__ float tile[kTileDim][kTileDim + 1];
  int x = blockIdx.x * kTileDim + threadIdx.x;
  int y = blockIdx.y * kTileDim + threadIdx.y;
  int index_in = x + y * width;
  x = blockIdx.y * kTileDim + threadIdx.x;
  y = blockIdx.x * kTileDim + threadIdx.y;
  int index_out = x + y * height;
  for (int r = 0; r < nreps; r++) {
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      tile[threadIdx.y + i][threadIdx.x] = in[index_in + i * width];
    }
    __syncthreads();
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      out[index_out + i * height] = tile[threadIdx.y + i][threadIdx.x];
    }
  }
}

// transposeNew, transposeFineGrained.
__global__ void sdk_kernel_fine_grained(float* out, float* in, int width, int height, int nreps) {
  __shared__ float tile[kTileDim][kTileDim + 1];
  int x = blockIdx.x * kTileDim + threadIdx.x;
  int y = blockIdx.y * kTileDim + threadIdx.y;
  int index = x + y * width;
  for (int r = 0; r < nreps; r++) {
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      tile[threadIdx.y + i][threadIdx.x] = in[index + i * width];
    }
    __syncthreads();
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      out[index + i * height] = tile[threadIdx.x][threadIdx.y + i];
    }
  }
}

// transposeNew, transposeDiagonal.
__global__ void sdk_kernel_diagonal(float* out, float* in, int width, int height, int nreps) {
  __shared__ float tile[kTileDim][kTileDim + 1];
  int block_x, block_y;
  if (width == height) {
    block_y = blockIdx.x;
    block_x = (blockIdx.x + blockIdx.y) % gridDim.x;
  } else {
    int number = blockIdx.x + gridDim.x * blockIdx.y;
    block_y = number % gridDim.y;
    block_x = ((number / gridDim.y) + block_y) % gridDim.x;
  }
  int x = block_x * kTileDim + threadIdx.x;
  int y = block_y * kTileDim + threadIdx.y;
  int index_in = x + y * width;
  x = block_y * kTileDim + threadIdx.x;
  y = block_x * kTileDim + threadIdx.y;
  int index_out = x + y * height;
  for (int r = 0; r < nreps; r++) {
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      tile[threadIdx.y + i][threadIdx.x] = in[index_in + i * width];
    }
    __syncthreads();
    for (int i = 0; i < kTileDim; i += kBlockRows) {
      out[index_out + i * height] = tile[threadIdx.x][threadIdx.y + i];
    }
  }
}

// Help for the launchers.

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void require_tiles(int m, int n, int k, int tile) {
  require(m > 0 && n > 0 && k > 0 && m % tile == 0 && n % tile == 0 && k % tile == 0,
          "an extent is not a positive multiple of the tile");
}

void require_product(int rows, int columns, int pitch_in_floats, int row_length, int block) {
  require(rows > 0 && columns > 0 && pitch_in_floats >= row_length, "bad extents or pitch");
  require(block > 0 && block <= 1024, "bad block size");
}

int blocks_for(int count, int block) { return (count + block - 1) / block; }

using SdkKernel = void (*)(float*, float*, int, int, int);

void launch_sdk(SdkKernel kernel, const float* in, float* out, int width, int height, int nreps,
                cudaStream_t stream) {
  require(width > 0 && height > 0 && width % kTileDim == 0 && height % kTileDim == 0,
          "an extent is not a positive multiple of the tile");
  dim3 grid(width / kTileDim, height / kTileDim);
  dim3 threads(kTileDim, kBlockRows);
  kernel<<<grid, threads, 0, stream>>>(out, const_cast<float*>(in), width, height, nreps);
}

}  // namespace

void s1_kernel_0(const float* a, const float* b, float* c, int m, int n, int k,
                 cudaStream_t stream) {
  require_tiles(m, n, k, kBlockSize);
  dim3 threads(kBlockSize, kBlockSize);
  dim3 blocks(n / kBlockSize, m / kBlockSize);
  s1_version_0<<<blocks, threads, 0, stream>>>(c, a, b, k, n);
}

void s1_kernel_1(const float* a, const float* b, float* c, int m, int n, int k,
                 cudaStream_t stream) {
  require_tiles(m, n, k, kBlockSize);
  dim3 threads(kBlockSize, kBlockSize);
  dim3 blocks(n / kBlockSize, m / kBlockSize);
  s1_version_1<<<blocks, threads, 0, stream>>>(c, a, b, k, n);
}

void s2_global(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
  require_tiles(m, n, k, kBlockSize);
  Matrix d_a{k, m, const_cast<float*>(a)};
  Matrix d_b{n, k, const_cast<float*>(b)};
  Matrix d_c{n, m, c};
  dim3 threads(kBlockSize, kBlockSize);
  dim3 grid(d_b.width / threads.x, d_a.height / threads.y);
  s2_mat_mul_global<<<grid, threads, 0, stream>>>(d_a, d_b, d_c);
}

void s2_shared(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
  require_tiles(m, n, k, kBlockSize);
  StridedMatrix d_a{k, m, k, const_cast<float*>(a)};
  StridedMatrix d_b{n, k, n, const_cast<float*>(b)};
  StridedMatrix d_c{n, m, n, c};
  dim3 threads(kBlockSize, kBlockSize);
  dim3 grid(d_b.width / threads.x, d_a.height / threads.y);
  s2_mat_mul_shared<<<grid, threads, 0, stream>>>(d_a, d_b, d_c);
}

void s0_tiles(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
  require(m == n && n == k, "the matrices are not square");
  require_tiles(m, n, k, kTileWidth);
  dim3 threads(kTileWidth, kTileWidth);
  dim3 grid(n / kTileWidth, n / kTileWidth);
  s0_matrix_mul<<<grid, threads, 0, stream>>>(a, b, c, n);
}

void s0_tiles_depth4(const float* a, const float* b, float* c, int m, int n, int k,
                     cudaStream_t stream) {
  require(m == n && n == k, "the matrices are not square");
  require_tiles(m, n, k, kTileWidth * kDepth);
  dim3 threads(kTileWidth, kTileWidth);
  dim3 grid(n / kTileWidth, n / kTileWidth);
  s0_matrix_mul_depth4<<<grid, threads, 0, stream>>>(a, b, c, n);
}

void s3_naive(const float* matrix, const float* v, float* r, int rows, int columns,
              int pitch_in_floats, int block, cudaStream_t stream) {
  require_product(rows, columns, pitch_in_floats, columns, block);
  s3_mxv_naive<<<blocks_for(rows, block), block, 0, stream>>>(rows, columns, pitch_in_floats,
                                                              matrix, v, r);
}

void s3_transposed(const float* matrix, const float* v, float* r, int rows, int columns,
                   int pitch_in_floats, int block, cudaStream_t stream) {
  require_product(rows, columns, pitch_in_floats, rows, block);
  const int row_size = columns;
  const int column_size = rows;
  s3_mxv_naive_transpose<<<blocks_for(column_size, block), block, 0, stream>>>(
      row_size, column_size, pitch_in_floats, matrix, v, r);
}

void s3_constant(const float* matrix, const float* v, float* r, int rows, int columns,
                 int pitch_in_floats, int block, cudaStream_t stream) {
  require_product(rows, columns, pitch_in_floats, rows, block);
  const int row_size = columns;
  const int column_size = rows;
  cudaMemsetAsync(r, 0, static_cast<std::size_t>(column_size) * sizeof(float), stream);
  for (int start = 0; start < row_size; start += s3_constant_size) {
    const int count = std::min(s3_constant_size, row_size - start);
    cudaMemcpyToSymbolAsync(c_v, v + start, static_cast<std::size_t>(count) * sizeof(float), 0,
                            cudaMemcpyDeviceToDevice, stream);
    s3_mxv_naive_transpose_constant<<<blocks_for(column_size, block), block, 0, stream>>>(
        row_size, column_size, pitch_in_floats, matrix, start, r);
  }
}

void s3_constant_kernel_only(const float* matrix, const float* /*v*/, float* r, int rows,
                             int columns, int pitch_in_floats, int block, cudaStream_t stream) {
  require_product(rows, columns, pitch_in_floats, rows, block);
  const int row_size = columns;
  const int column_size = rows;
  require(row_size <= s3_constant_size, "the vector does not fit into constant memory");
  s3_mxv_naive_transpose_constant<<<blocks_for(column_size, block), block, 0, stream>>>(
      row_size, column_size, pitch_in_floats, matrix, 0, r);
}

void s3_shared(const float* matrix, const float* v, float* r, int rows, int columns,
               int pitch_in_floats, int block, cudaStream_t stream) {
  require_product(rows, columns, pitch_in_floats, rows, block);
  const int row_size = columns;
  const int column_size = rows;
  const int shared_size = block;
  s3_mxv_naive_transpose_shared<<<blocks_for(column_size, block), block,
                                  shared_size * sizeof(float), stream>>>(
      row_size, column_size, pitch_in_floats, matrix, v, shared_size, r);
}

void s3_block_per_row(const float* matrix, const float* v, float* r, int rows, int columns,
                      int pitch_in_floats, int block, cudaStream_t stream) {
  require_product(rows, columns, pitch_in_floats, columns, block);
  require((block & (block - 1)) == 0, "the block size is not a power of two");
  s3_mxv_block<<<rows, block, block * sizeof(float), stream>>>(rows, columns, pitch_in_floats,
                                                               matrix, v, r);
}

void s3_warp_per_row(const float* matrix, const float* v, float* r, int rows, int columns,
                     int pitch_in_floats, int block, cudaStream_t stream) {
  require_product(rows, columns, pitch_in_floats, columns, block);
  require(block % 32 == 0, "the block size is not a multiple of a warp");
  s3_mxv_warp<<<blocks_for(rows, block / 32), block, block * sizeof(float), stream>>>(
      rows, columns, pitch_in_floats, matrix, v, r);
}

void sdk_copy(const float* in, float* out, int width, int height, int nreps, cudaStream_t stream) {
  launch_sdk(sdk_kernel_copy, in, out, width, height, nreps, stream);
}

void sdk_copy_shared(const float* in, float* out, int width, int height, int nreps,
                     cudaStream_t stream) {
  launch_sdk(sdk_kernel_copy_shared, in, out, width, height, nreps, stream);
}

void sdk_naive(const float* in, float* out, int width, int height, int nreps, cudaStream_t stream) {
  launch_sdk(sdk_kernel_naive, in, out, width, height, nreps, stream);
}

void sdk_coalesced(const float* in, float* out, int width, int height, int nreps,
                   cudaStream_t stream) {
  launch_sdk(sdk_kernel_coalesced, in, out, width, height, nreps, stream);
}

void sdk_no_bank_conflicts(const float* in, float* out, int width, int height, int nreps,
                           cudaStream_t stream) {
  launch_sdk(sdk_kernel_no_bank_conflicts, in, out, width, height, nreps, stream);
}

void sdk_coarse_grained(const float* in, float* out, int width, int height, int nreps,
                        cudaStream_t stream) {
  launch_sdk(sdk_kernel_coarse_grained, in, out, width, height, nreps, stream);
}

void sdk_fine_grained(const float* in, float* out, int width, int height, int nreps,
                      cudaStream_t stream) {
  require(width == height, "the matrix is not square");
  launch_sdk(sdk_kernel_fine_grained, in, out, width, height, nreps, stream);
}

void sdk_diagonal(const float* in, float* out, int width, int height, int nreps,
                  cudaStream_t stream) {
  launch_sdk(sdk_kernel_diagonal, in, out, width, height, nreps, stream);
}

}  // namespace recheck::second
