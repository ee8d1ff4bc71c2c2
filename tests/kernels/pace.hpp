// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

namespace recheck {

/// Blocks of one thread that go through so many tiles at the pace of kernels/matmul/pace.cuh. Every
/// other block needs long for a stretch; the first so many `absent` ones do nothing at all. Of each
/// block: the most stretches that it was ahead of the mean, times `blocks`, once it might begin
/// one, and how many it has begun. `begun` is 0 before.
void keep_pace(int blocks, int absent, int tiles, int stretches, unsigned* begun, int* most_ahead,
               int* of_block, cudaStream_t stream);

}  // namespace recheck
