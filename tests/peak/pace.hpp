// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

namespace recheck {

/// Blocks of one thread that go through so many tiles at the pace of kernels/matmul/pace.cuh. Every
/// other block needs long for a leg; the first so many `absent` ones do nothing at all. Of each
/// block: the most legs that it was ahead of the mean, times `blocks`, once it might begin one; the
/// same in the tile that not all blocks have, times as many as have it; and the legs that it has
/// begun. `begun` and `there` are 0 before.
void keep_pace(int blocks, int absent, int tiles, int legs, unsigned* begun, unsigned* there,
               int* most_ahead, int* most_ahead_last, int* of_block, cudaStream_t stream);

}  // namespace recheck
