// SPDX-License-Identifier: Apache-2.0
#include "pace.hpp"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <vector>

#include "../../experiments/harness/cuda.hpp"
#include "../targets.hpp"

namespace recheck {
namespace {

constexpr int blocks = 8, legs = 50;

struct Kept {
  int begun = 0;
  std::vector<int> most_ahead, most_ahead_last, of_block;
};

Kept kept_pace(int absent, int tiles) {
  constexpr int count = 2 + 3 * blocks;
  Target& target = targets().of(Backend::gpu);
  const Array words(target, count);
  check(cudaMemset(words.data(), 0, count * sizeof(int)));
  auto* const at = reinterpret_cast<int*>(words.data());
  auto* const begun = reinterpret_cast<unsigned*>(at);
  int* const found = at + 2;
  keep_pace(blocks, absent, tiles, legs, begun, begun + 1, found, found + blocks,
            found + 2 * blocks, target.queue().stream);
  target.synchronize();
  std::vector<int> all(count);
  check(cudaMemcpy(all.data(), at, count * sizeof(int), cudaMemcpyDeviceToHost));
  const auto part = [&](int i) {
    const auto begin = all.begin() + 2 + i * blocks;
    return std::vector<int>(begin, begin + blocks);
  };
  return {all[0], part(0), part(1), part(2)};
}

// two tiles for each block, and one more for three of them
TEST(gpu_Pace, NoBlockIsMoreThanTwoLegsAheadOfTheMean) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  constexpr int extra = 3, tiles = 2 * blocks + extra;
  const Kept kept = kept_pace(0, tiles);
  for (int block = 0; block < blocks; ++block) {
    EXPECT_EQ(kept.of_block[block], (block < extra ? 3 : 2) * legs);
    EXPECT_LE(kept.most_ahead[block], 2 * blocks);
    EXPECT_LE(kept.most_ahead_last[block], 2 * extra);
  }
  EXPECT_EQ(kept.begun, tiles * legs);
}

TEST(gpu_Pace, BlocksDoNotWaitForEverForOneThatIsNotThere) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  const Kept kept = kept_pace(1, 2 * blocks);
  for (int block = 1; block < blocks; ++block) EXPECT_EQ(kept.of_block[block], 2 * legs);
}

}  // namespace
}  // namespace recheck
