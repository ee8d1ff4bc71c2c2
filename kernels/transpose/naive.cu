// SPDX-License-Identifier: Apache-2.0
//
// The obvious transposition: a warp reads 32 neighbouring words and writes them one row of out
// apart, into 32 different sectors. Source: SDK transposeNew, "naive transpose" (A17).

#include "tile.cuh"

namespace recheck::kernels::transpose {
namespace {

__global__ void naive_kernel(TransposeArgs p) {
  const std::int64_t column = std::int64_t{blockIdx.x} * tile_size + threadIdx.x;
  const std::int64_t first = std::int64_t{blockIdx.y} * tile_size + threadIdx.y;
  if (column >= p.columns) return;
  for (int repeat = 0; repeat < p.repeats; ++repeat)
    for (int i = 0; i < tile_size; i += block_rows)
      if (first + i < p.rows)
        p.out[column * p.ldout + first + i] = p.in[(first + i) * p.ldin + column];
}

}  // namespace

void naive(const TransposeArgs& args, cudaStream_t stream) {
  launch_tiles<naive_kernel>(args, stream);
}

}  // namespace recheck::kernels::transpose
