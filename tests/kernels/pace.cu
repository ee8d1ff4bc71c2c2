// SPDX-License-Identifier: Apache-2.0
//
// Apart from the test, whose headers nvcc would read for each architecture.
#include "../../kernels/matmul/pace.cuh"
#include "pace.hpp"

namespace recheck {
namespace {

__global__ void pace_kernel(int absent, int tiles, int stretches, unsigned* begun, int* most_ahead,
                            int* of_block) {
  const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
  if (block < absent) return;
  kernels::matmul::Pace pace(begun, tiles, stretches);
  int most = 0, mine = 0;
  for (int t = block; t < tiles; t += blocks)
    for (int s = 0; s < stretches; ++s) {
      pace.begin_stretch();
      ++mine;
      most = max(most, mine * blocks - static_cast<int>(atomicAdd(begun, 0u)));
      if (block % 2 == 1) __nanosleep(10'000);
    }
  most_ahead[block] = most;
  of_block[block] = mine;
}

}  // namespace

void keep_pace(int blocks, int absent, int tiles, int stretches, unsigned* begun, int* most_ahead,
               int* of_block, cudaStream_t stream) {
  pace_kernel<<<blocks, 1, 0, stream>>>(absent, tiles, stretches, begun, most_ahead, of_block);
}

}  // namespace recheck
