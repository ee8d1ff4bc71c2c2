// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's eight kernels in the sample's own form: int indices that are computed once, steps over
// them in loops whose trip count the compiler knows, static arrays, no guards. tile.cuh is the
// generalised version. S3 names the sample, transposeNew of CUDA SDK 3.1, and has a table of its
// times (A17), but no code. That version is no longer available. The form is that of the sample of
// 2009, whose kernels have the same names, tiles of 32×32 and blocks of 32×8. As there, a
// repetition may fill the tile while another warp still writes it out: the words are the same.

#include "transpose.hpp"

namespace recheck::kernels::transpose {
namespace {

constexpr int tile_dim = 32, block_rows = 8;

/// nreps times: carries a tile from `index_in`, in rows of `in_width`, through shared memory to
/// `index_out`, in rows of `out_width`, transposed if `turned`.
template <bool turned, int padding>
__device__ void carry(float* odata, int index_out, int out_width, const float* idata, int index_in,
                      int in_width, int nreps) {
  __shared__ float tile[tile_dim][tile_dim + padding];
  for (int r = 0; r < nreps; ++r) {
    for (int i = 0; i < tile_dim; i += block_rows)
      tile[threadIdx.y + i][threadIdx.x] = idata[index_in + i * in_width];
    __syncthreads();  // the tile is whole
    for (int i = 0; i < tile_dim; i += block_rows)
      odata[index_out + i * out_width] =
          turned ? tile[threadIdx.x][threadIdx.y + i] : tile[threadIdx.y + i][threadIdx.x];
  }
}

/// This thread's first element of the tile (tile_x, tile_y) of a matrix with rows of `width`.
__device__ int element(int tile_x, int tile_y, int width) {
  const int x = tile_x * tile_dim + threadIdx.x;
  const int y = tile_y * tile_dim + threadIdx.y;
  return x + y * width;
}

__global__ void sdk_copy_kernel(float* odata, const float* idata, int width, int /*height*/,
                                int nreps) {
  const int index = element(blockIdx.x, blockIdx.y, width);
  for (int r = 0; r < nreps; ++r)
    for (int i = 0; i < tile_dim; i += block_rows)
      odata[index + i * width] = idata[index + i * width];
}

__global__ void sdk_copy_shared_kernel(float* odata, const float* idata, int width, int /*height*/,
                                       int nreps) {
  const int index = element(blockIdx.x, blockIdx.y, width);
  carry<false, 0>(odata, index, width, idata, index, width, nreps);
}

__global__ void sdk_naive_kernel(float* odata, const float* idata, int width, int height,
                                 int nreps) {
  const int x = blockIdx.x * tile_dim + threadIdx.x;
  const int y = blockIdx.y * tile_dim + threadIdx.y;
  const int index_in = x + width * y;
  const int index_out = y + height * x;
  for (int r = 0; r < nreps; ++r)
    for (int i = 0; i < tile_dim; i += block_rows)
      odata[index_out + i] = idata[index_in + i * width];
}

/// Moves the tile to its transposed place.
template <bool turned, int padding>
__global__ void sdk_moved_kernel(float* odata, const float* idata, int width, int height,
                                 int nreps) {
  const int index_in = element(blockIdx.x, blockIdx.y, width);
  const int index_out = element(blockIdx.y, blockIdx.x, height);
  carry<turned, padding>(odata, index_out, height, idata, index_in, width, nreps);
}

/// The first index uses the width, but output rows step by the height, so only squares come out
/// right.
__global__ void sdk_fine_grained_kernel(float* odata, const float* idata, int width, int height,
                                        int nreps) {
  const int index = element(blockIdx.x, blockIdx.y, width);
  carry<true, 1>(odata, index, height, idata, index, width, nreps);
}

__global__ void sdk_diagonal_kernel(float* odata, const float* idata, int width, int height,
                                    int nreps) {
  int block_x, block_y;
  if (width == height) {
    block_y = blockIdx.x;
    block_x = (blockIdx.x + blockIdx.y) % gridDim.x;
  } else {
    const int block = blockIdx.x + gridDim.x * blockIdx.y;
    block_y = block % gridDim.y;
    block_x = ((block / gridDim.y) + block_y) % gridDim.x;
  }
  const int index_in = element(block_x, block_y, width);
  const int index_out = element(block_y, block_x, height);
  carry<true, 1>(odata, index_out, height, idata, index_in, width, nreps);
}

template <auto kernel>
void launch(const TransposeArgs& p, cudaStream_t stream) {
  const dim3 grid(p.columns / tile_dim, p.rows / tile_dim), threads(tile_dim, block_rows);
  kernel<<<grid, threads, 0, stream>>>(p.out, p.in, p.columns, p.rows, p.repeats);
}

}  // namespace

void sdk_copy(const TransposeArgs& p, cudaStream_t stream) { launch<sdk_copy_kernel>(p, stream); }

void sdk_copy_shared(const TransposeArgs& p, cudaStream_t stream) {
  launch<sdk_copy_shared_kernel>(p, stream);
}

void sdk_naive(const TransposeArgs& p, cudaStream_t stream) { launch<sdk_naive_kernel>(p, stream); }

void sdk_coalesced(const TransposeArgs& p, cudaStream_t stream) {
  launch<sdk_moved_kernel<true, 0>>(p, stream);
}

void sdk_no_bank_conflicts(const TransposeArgs& p, cudaStream_t stream) {
  launch<sdk_moved_kernel<true, 1>>(p, stream);
}

void sdk_coarse_grained(const TransposeArgs& p, cudaStream_t stream) {
  launch<sdk_moved_kernel<false, 1>>(p, stream);
}

void sdk_fine_grained(const TransposeArgs& p, cudaStream_t stream) {
  launch<sdk_fine_grained_kernel>(p, stream);
}

void sdk_diagonal(const TransposeArgs& p, cudaStream_t stream) {
  launch<sdk_diagonal_kernel>(p, stream);
}

}  // namespace recheck::kernels::transpose
