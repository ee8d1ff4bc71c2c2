// SPDX-License-Identifier: Apache-2.0
//
// Apart from the test, whose headers nvcc would read for each architecture.
#include "../../kernels/peak/matmul/pace.cuh"
#include "pace.hpp"

namespace recheck {
namespace {

__global__ void pace_kernel(int absent, int tiles, int legs, unsigned* begun, unsigned* there,
                            int* most_ahead, int* most_ahead_last, int* of_block) {
  const int block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
  if (block < absent) return;
  // all start together, if they can
  atomicAdd(there, 1u);
  for (int looks = 0; looks < 100'000 && atomicAdd(there, 0u) < gridDim.x - absent; ++looks) {
  }
  kernels::matmul::Pace pace(begun, tiles, legs);
  const int whole = tiles / blocks * legs, rest = tiles % blocks;
  int most = 0, most_last = 0, mine = 0;
  for (int t = block; t < tiles; t += blocks)
    for (int s = 0; s < legs; ++s) {
      pace.begin_leg();
      ++mine;
      const int all = static_cast<int>(atomicAdd(begun, 0u));
      if (mine <= whole)
        most = max(most, mine * blocks - all);
      else if (mine > whole + 1)  // the mean is of those that have a tile more
        most_last = max(most_last, mine * rest - (all - (blocks - rest) * whole));
      if (block % 2 == 1) __nanosleep(10'000);
    }
  most_ahead[block] = most;
  most_ahead_last[block] = most_last;
  of_block[block] = mine;
}

}  // namespace

void keep_pace(int blocks, int absent, int tiles, int legs, unsigned* begun, unsigned* there,
               int* most_ahead, int* most_ahead_last, int* of_block, cudaStream_t stream) {
  pace_kernel<<<blocks, 1, 0, stream>>>(absent, tiles, legs, begun, there, most_ahead,
                                        most_ahead_last, of_block);
}

}  // namespace recheck
