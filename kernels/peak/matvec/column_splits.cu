// SPDX-License-Identifier: Apache-2.0
//
// A by columns, as column_tiles, but with fewer rows than clusters make up for: the columns of a
// tile are split over as many blocks as fill the chip, each leaves its sums in the workspace, and
// the one that arrives last adds them, in the order of the splits and not of their arrival. Source:
// split-K with the last block's reduction (threadFenceReduction, CUDA samples).

#include "chunk.cuh"
#include "column_tile.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

template <int block, int lanes, int width, int unroll, bool vectors>
__global__ void __launch_bounds__(block)
    column_splits_kernel(MatvecArgs p, unsigned* arrived, float* partials) {
  constexpr int tile_rows = width * lanes;
  // the partial sums of one row are added by `parts` threads
  constexpr int parts = block / tile_rows > 1 ? block / tile_rows : 1;
  __shared__ float tile[tile_rows];
  __shared__ bool last;
  const int tid = static_cast<int>(threadIdx.x);
  const int split = static_cast<int>(blockIdx.y), splits = static_cast<int>(gridDim.y);
  const std::int64_t first = std::int64_t{blockIdx.x} * tile_rows;
  column_tile<block, lanes, width, unroll, vectors>(p, first, split, splits, tile);
  float* own = partials + (std::int64_t{blockIdx.x} * splits + split) * tile_rows;
  for (int i = tid; i < tile_rows; i += block) own[i] = tile[i];  // by the thread that added it
  __threadfence();
  __syncthreads();
  if (tid == 0) last = atomicAdd(&arrived[blockIdx.x], 1u) == gridDim.y - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  __shared__ float sums[parts][tile_rows];
  const float* all = partials + std::int64_t{blockIdx.x} * splits * tile_rows;
  for (int i = tid; i < parts * tile_rows; i += block) {
    float sum = 0;
#pragma unroll 16
    for (int s = i / tile_rows; s < splits; s += parts)
      sum += __ldcg(&all[std::int64_t{s} * tile_rows + i % tile_rows]);
    sums[i / tile_rows][i % tile_rows] = sum;
  }
  __syncthreads();
  for (int i = tid; i < tile_rows && first + i < p.rows; i += block) {
    float sum = 0;
    for (int part = 0; part < parts; ++part) sum += sums[part][i];
    p.r[first + i] = sum;
  }
}

template <int block, int lanes, int width, int unroll>
void launch(const MatvecArgs& p, int splits, const Queue& queue) {
  const std::int64_t tiles = (p.rows + std::int64_t{width * lanes} - 1) / (width * lanes);
  auto* arrived = reinterpret_cast<unsigned*>(queue.workspace);
  cudaMemsetAsync(arrived, 0, tiles * sizeof(unsigned), queue.stream);
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(splits));
  if (width == 4 && starts_on_vectors(p))
    column_splits_kernel<block, lanes, width, unroll, width == 4>
        <<<grid, block, 0, queue.stream>>>(p, arrived, queue.workspace + tiles);
  else
    column_splits_kernel<block, lanes, width, unroll, false>
        <<<grid, block, 0, queue.stream>>>(p, arrived, queue.workspace + tiles);
}

}  // namespace

template <int block, int lanes, int unroll, int fill>
void column_splits(const MatvecArgs& args, const Queue& queue) {
  if (args.rows == 0) return;
  const int width = column_splits_rows(args.rows, 4 * lanes);
  const int splits = static_cast<int>(column_splits_of(args.rows, args.columns, 4 * lanes, fill));
  if (width == 1)
    launch<block, 1, 1, unroll>(args, splits, queue);
  else if (width == 8)
    launch<block, 8, 1, unroll>(args, splits, queue);
  else if (width == 64)
    launch<block, 16, 4, unroll>(args, splits, queue);
  else
    launch<block, lanes, 4, unroll>(args, splits, queue);
}

template void column_splits<1024, 32, 8, 132>(const MatvecArgs&, const Queue&);

}  // namespace recheck::kernels::matvec
