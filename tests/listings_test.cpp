// SPDX-License-Identifier: Apache-2.0
//
// What listings of the documents have in common beyond being right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "../experiments/harness/workbench.hpp"
#include "../experiments/matmul/matmul.hpp"

namespace recheck {
namespace {

/// The m×n floats that a row leaves of a shape's inputs.
std::vector<float> left_by(std::string_view name, const Shape& shape, Target& target) {
  const auto table = matmul::ladder();
  const auto row = std::ranges::find(table, name, &Strategy::name);
  const Experiment experiment = matmul::experiment({&*row, 1});
  Workbench bench(experiment, shape, target, 0, 1);
  std::vector<float> output(shape[0] * shape[1]);
  bench.poison();  // or what stood there before may be taken for an answer
  bench.launch (*row)();
  target.synchronize();
  target.copy_out(output.data(), bench.left(), std::ssize(output));
  return output;
}

// S1 adds up sub-blocks of the sum: one register, the same order
TEST(gpu_Listings, OfS1LeaveTheSameBits) {
  const Gpu gpu = find_gpu();
  if (!gpu.device) GTEST_SKIP() << *gpu.reason;
  const auto target = make_gpu_target(*gpu.device);
  for (const Shape& shape : {Shape{80, 48, 64}, Shape{1024, 1024, 1024}}) {
    const auto version_0 = left_by("s1_kernel_0", shape, *target);
    const auto version_1 = left_by("s1_kernel_1", shape, *target);
    EXPECT_EQ(std::memcmp(version_0.data(), version_1.data(), version_0.size() * sizeof(float)), 0)
        << to_string(shape);
  }
}

}  // namespace
}  // namespace recheck
