// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the blocks of a persistent grid together on their way through their tiles. Blocks that run
// at the same time read the same panels, all but the first of them from L2, as long as they read
// them soon after each other. Nothing but the memory itself holds them together: where a tile's
// panels are several times L2, as at 16384³, some drift apart, each reads from DRAM for itself, and
// the same launch takes once as long as another time.

#include <cuda_runtime.h>

namespace recheck::kernels::matmul {

/// One thread's of each block, which goes through tiles blockIdx.x, blockIdx.x + gridDim.x and so
/// on, each in so many stretches.
class Pace {
 public:
  /// `begun`: a word in global memory, 0 when the grid starts: the stretches that its blocks have
  /// begun, altogether.
  __device__ Pace(unsigned* begun, int tiles, int stretches)
      : begun_(begun),
        whole_(tiles / static_cast<int>(gridDim.x) * stretches),
        rest_(tiles % static_cast<int>(gridDim.x)) {}

  /// Before each stretch: waits while this block is further ahead of the mean than it may be. No
  /// result depends on that, and what it waits for may not run yet: so it waits once for long, and
  /// then never again.
  __device__ void begin_stretch() {
    atomicAdd(begun_, 1u);
    const int due = mine_++ - lead;  // of each block
    if (due <= 0 || alone_) return;
    const unsigned least = min(due, whole_) * gridDim.x + max(due - whole_, 0) * rest_;
    for (int looks = 0; static_cast<int>(*const_cast<volatile unsigned*>(begun_) - least) < 0;
         ++looks)
      if (looks == most_looks) {
        alone_ = true;
        return;
      }
  }

 private:
  static constexpr int lead = 1;
  static constexpr int most_looks = 200;  // of some 0.7 us

  unsigned* begun_;
  int whole_;  // stretches of a block that has no tile more than another
  int rest_;   // blocks that have one tile more
  int mine_ = 0;
  bool alone_ = false;
};

}  // namespace recheck::kernels::matmul
