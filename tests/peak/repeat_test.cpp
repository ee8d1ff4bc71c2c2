// SPDX-License-Identifier: Apache-2.0
//
// A race may spoil one launch in a thousand, which the gate's few launches rarely reveal. So each
// row beyond the documents is launched for a second, and every output is compared with the first
// one, by their digests.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <span>
#include <vector>

#include "../../experiments/harness/case/requirements.hpp"
#include "../../experiments/harness/prove/operands.hpp"
#include "../rows.hpp"
#include "../targets.hpp"

namespace recheck {
namespace {

/// How long each row is launched: a second, or RECHECK_REPEAT_SECONDS, to search for rare races.
std::chrono::seconds duration() {
  const char* seconds = std::getenv("RECHECK_REPEAT_SECONDS");
  return std::chrono::seconds(seconds ? std::max(1L, std::strtol(seconds, nullptr, 10)) : 1);
}

/// Launches that long, and returns how many outputs differed from the first one.
int differing(Target& target, const std::function<void()>& launch, std::span<const float> output,
              int& launches) {
  const auto digest = [&] {
    launch();
    return target.digests({&output, 1}).front();
  };
  const auto first = digest();
  int wrong = 0;
  const auto end = std::chrono::steady_clock::now() + duration();
  for (launches = 1; std::chrono::steady_clock::now() < end; ++launches)
    wrong += digest() != first ? 1 : 0;
  return wrong;
}

std::vector<Row> rows() {
  return rows_where([](const Strategy& strategy) {
    return strategy.source.document == beyond && strategy.role == Role::rung && !strategy.sweep &&
           strategy.launch.backend == Backend::gpu;
  });
}

class Repeat : public testing::TestWithParam<Row> {};

TEST_P(Repeat, LeavesTheSameBitsEveryTime) {
  const auto& [experiment, strategy] = GetParam();
  const Gpu& gpu = found_gpu();
  Shape shape = experiment->headline;
  // or with one column, for a row that takes only that
  if (shape.size() == 3 && refuse(*strategy, shape, gpu)) shape[1] = 1;
  if (const auto refusal = refuse(*strategy, shape, gpu)) GTEST_SKIP() << *refusal->reason;
  Target& target = targets().of(Backend::gpu);
  Operands operands(*experiment, shape, target, 0, 1);
  const Extent output = experiment->problem_of(*strategy).output(shape)[0];
  int launches = 0;
  const int wrong = differing(
      target, operands.launch(*strategy, operands.reals()),
      {operands.guarded_output() + guard, static_cast<std::size_t>(output.rows * output.columns)},
      launches);
  RecordProperty("launches", launches);
  EXPECT_EQ(wrong, 0) << "of " << launches << " launches";
  EXPECT_GT(launches, 1);
}

INSTANTIATE_TEST_SUITE_P(gpu, Repeat, testing::ValuesIn(rows()), name_of_row);

using gpu_Repeat = OnGpu;
TEST_F(gpu_Repeat, SeesTheOneLaunchThatDiffers) {
  Target& target = targets().of(Backend::gpu);
  constexpr std::size_t count = 1 << 20;
  const Array output(target, count);
  int launched = 0;
  const auto launch = [&] {
    const auto stream = target.queue().stream;
    cudaMemsetAsync(output.data(), 0, count * sizeof(float), stream);
    if (++launched == 20) cudaMemsetAsync(output.data() + count - 1, 1, 1, stream);
  };
  int launches = 0;
  EXPECT_EQ(differing(target, launch, {output.data(), count}, launches), 1);
  EXPECT_GT(launches, 20);
}

}  // namespace
}  // namespace recheck
