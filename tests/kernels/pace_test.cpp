// SPDX-License-Identifier: Apache-2.0
#include "pace.hpp"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "../../experiments/harness/cuda.hpp"
#include "../targets.hpp"

namespace recheck {
namespace {

constexpr int blocks = 8, stretches = 50;

struct Kept {
  unsigned begun = 0;
  std::vector<int> most_ahead, of_block;
};

Kept kept_pace(int absent, int tiles) {
  Target& target = targets().of(Backend::gpu);
  const Array words(target, 1 + 2 * blocks);
  check(cudaMemset(words.data(), 0, (1 + 2 * blocks) * sizeof(int)));
  auto* const at = reinterpret_cast<int*>(words.data());
  keep_pace(blocks, absent, tiles, stretches, reinterpret_cast<unsigned*>(at), at + 1,
            at + 1 + blocks, target.queue().stream);
  target.synchronize();
  std::vector<int> all(1 + 2 * blocks);
  check(cudaMemcpy(all.data(), at, all.size() * sizeof(int), cudaMemcpyDeviceToHost));
  return {static_cast<unsigned>(all[0]),
          {all.begin() + 1, all.begin() + 1 + blocks},
          {all.begin() + 1 + blocks, all.end()}};
}

// two tiles for each block, and one more for three of them
TEST(gpu_Pace, NoBlockIsMoreThanTwoStretchesAheadOfTheMean) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  constexpr int tiles = 2 * blocks + 3;
  const Kept kept = kept_pace(0, tiles);
  for (int block = 0; block < blocks; ++block) {
    EXPECT_EQ(kept.of_block[block], (block < 3 ? 3 : 2) * stretches);
    // once blocks have no more tiles, the mean is of those that have
    if (block >= 3) {
      EXPECT_LE(kept.most_ahead[block], 2 * blocks);
    }
  }
  EXPECT_EQ(kept.begun, tiles * stretches);
  EXPECT_EQ(std::accumulate(kept.of_block.begin(), kept.of_block.end(), 0), tiles * stretches);
}

TEST(gpu_Pace, BlocksDoNotWaitForEverForOneThatIsNotThere) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  const Kept kept = kept_pace(1, 2 * blocks);
  for (int block = 1; block < blocks; ++block) EXPECT_EQ(kept.of_block[block], 2 * stretches);
}

}  // namespace
}  // namespace recheck
