// SPDX-License-Identifier: Apache-2.0
//
// A plain copy with the transpositions' tiles and blocks: what they would reach if transposing cost
// nothing. NVIDIA's paper compares them with it. Source: SDK transposeNew, "simple copy" (A17).

#include "tile.cuh"

namespace recheck::kernels::transpose {
namespace {

__global__ void copy_kernel(TransposeArgs p) {
  const std::int64_t column = std::int64_t{blockIdx.x} * tile_size + threadIdx.x;
  const std::int64_t first = std::int64_t{blockIdx.y} * tile_size + threadIdx.y;
  if (column >= p.columns) return;
  for (int repeat = 0; repeat < p.repeats; ++repeat)
    for (int i = 0; i < tile_size; i += block_rows)
      if (first + i < p.rows)
        p.out[(first + i) * p.ldout + column] = p.in[(first + i) * p.ldin + column];
}

}  // namespace

void copy(const TransposeArgs& args, cudaStream_t stream) {
  launch_tiles<copy_kernel>(args, stream);
}

}  // namespace recheck::kernels::transpose
