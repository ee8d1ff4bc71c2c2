// SPDX-License-Identifier: Apache-2.0
//
// A race may spoil one launch in a thousand, which the gate's few launches hardly ever show. So
// here each row beyond the documents is launched for a second, and every output is compared with
// the first, bit by bit, on the device.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "../experiments/harness/workbench.hpp"

namespace recheck {
namespace {

/// Numbers in [-1/2, 1/2) that look random, others for another seed.
__global__ void fill_kernel(float* to, std::int64_t count, std::uint32_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    auto bits = static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15 + seed;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    to[i] = static_cast<float>(bits >> 40) * 0x1p-24F - 0.5F;
  }
}

__global__ void compare_kernel(const std::uint32_t* a, const std::uint32_t* b, std::int64_t count,
                               unsigned* differ) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    if (a[i] != b[i]) *differ = 1;
}

constexpr int blocks = 1024, threads = 256;

/// Launches for a second and compares; the number of launches whose output was not the first's.
int differing(Target& target, const std::function<void()>& launch, const float* output,
              std::int64_t count, int& launches) {
  const cudaStream_t stream = target.queue().stream;
  const Array first(target, count), flag(target, 1);
  auto* differ = reinterpret_cast<unsigned*>(flag.data());
  launch();
  cudaMemcpyAsync(first.data(), output, count * sizeof(float), cudaMemcpyDeviceToDevice, stream);
  int wrong = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (launches = 1; std::chrono::steady_clock::now() < end; ++launches) {
    cudaMemsetAsync(differ, 0, sizeof *differ, stream);
    launch();
    compare_kernel<<<blocks, threads, 0, stream>>>(
        reinterpret_cast<const std::uint32_t*>(output),
        reinterpret_cast<const std::uint32_t*>(first.data()), count, differ);
    unsigned seen = 1;
    target.synchronize();
    cudaMemcpy(&seen, differ, sizeof seen, cudaMemcpyDeviceToHost);
    wrong += seen != 0;
  }
  return wrong;
}

struct Row {
  const Experiment* experiment;
  const Strategy* strategy;
};

std::vector<Row> rows() {
  std::vector<Row> chosen;
  for (const auto& experiment : experiments())
    for (const auto& strategy : experiment.ladder)
      if (strategy.source.document == beyond && strategy.role == Role::rung && !strategy.sweep &&
          strategy.launch.backend == Backend::gpu)
        chosen.push_back({&experiment, &strategy});
  return chosen;
}

std::string name(const testing::TestParamInfo<Row>& info) {
  return std::string(info.param.experiment->name) + "_" + std::string(info.param.strategy->name);
}

class Repeat : public testing::TestWithParam<Row> {};

TEST_P(Repeat, LeavesTheSameBitsEveryTime) {
  const auto& [experiment, strategy] = GetParam();
  const Gpu gpu = find_gpu();
  const Shape& shape = experiment->headline;
  if (const auto refusal = refuse(*strategy, shape, gpu)) GTEST_SKIP() << *refusal->reason;
  const auto target = make_gpu_target(*gpu.device);
  std::vector<Array> arrays;
  std::vector<Matrix> operands;
  const auto add = [&](Extent extent, Layout layout) {
    const auto [rows, columns] = extent;
    const std::int64_t ld = leading_dimension(rows, columns, layout, 0);
    const std::int64_t count = std::max(rows, columns) * ld;
    operands.push_back({arrays.emplace_back(*target, count).data(), ld});
    fill_kernel<<<blocks, threads, 0, target->queue().stream>>>(
        operands.back().data, count, static_cast<std::uint32_t>(operands.size()));
  };
  for (const auto& extent : experiment->inputs(shape))
    add(extent, operands.empty() ? strategy->layout : Layout::row_major);
  const Extent output = experiment->problem_of(*strategy).output(shape);
  add(output, Layout::row_major);
  auto queue = target->queue();
  if (strategy->workspace != nullptr)
    queue.workspace = arrays.emplace_back(*target, strategy->workspace(shape)).data();
  int launches = 0;
  const int wrong = differing(
      *target, [&] { strategy->launch.run({shape, operands, queue}); }, operands.back().data,
      output.rows * output.columns, launches);
  RecordProperty("launches", launches);
  EXPECT_EQ(wrong, 0) << "of " << launches << " launches";
  EXPECT_GT(launches, 1);
}

INSTANTIATE_TEST_SUITE_P(gpu, Repeat, testing::ValuesIn(rows()), name);

TEST(gpu_Repeat, SeesTheOneLaunchThatDiffers) {
  const Gpu gpu = find_gpu();
  if (!gpu.device) GTEST_SKIP() << *gpu.reason;
  const auto target = make_gpu_target(*gpu.device);
  constexpr std::int64_t count = 1 << 20;
  const Array output(*target, count);
  int launched = 0;
  const auto launch = [&] {
    const auto stream = target->queue().stream;
    fill_kernel<<<blocks, threads, 0, stream>>>(output.data(), count, 1);
    if (++launched == 20) fill_kernel<<<1, 1, 0, stream>>>(output.data() + count - 1, 1, 2);
  };
  int launches = 0;
  EXPECT_EQ(differing(*target, launch, output.data(), count, launches), 1);
  EXPECT_GT(launches, 20);
}

}  // namespace
}  // namespace recheck
