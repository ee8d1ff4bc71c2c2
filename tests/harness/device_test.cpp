// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "../../experiments/harness/base/statistics.hpp"
#include "../../experiments/harness/device/cuda.hpp"
#include "../../experiments/harness/device/device_kernels.hpp"
#include "../../experiments/harness/prove/inputs.hpp"
#include "../expect.hpp"
#include "../targets.hpp"

namespace recheck {
namespace {

TEST(Unusable, SaysWhy) {
  const auto reason = unusable(cudaErrorInsufficientDriver, 0, 12040, 13000).value_or("");
  for (const char* words : {"12.4", "13.0", "update the driver"}) EXPECT_TRUE(has(reason, words));
  EXPECT_EQ(unusable(cudaErrorInsufficientDriver, 0, 0, 13000), "no CUDA device");
  EXPECT_EQ(unusable(cudaErrorNoDevice, 0, 13000, 13000), "no CUDA device");
  EXPECT_EQ(unusable(cudaSuccess, 0, 13000, 13000), "no CUDA device");
  EXPECT_FALSE(unusable(cudaSuccess, 1, 13000, 13000));
  // minor versions are compatible within a major one
  EXPECT_FALSE(unusable(cudaSuccess, 1, 13000, 13020));
}

TEST(Check, ThrowsWhereTheCallStands) {
  try {
    check(cudaErrorInvalidValue);
    FAIL();
  } catch (const CudaError& error) {
    EXPECT_EQ(error.code, cudaErrorInvalidValue);
    EXPECT_TRUE(has(error.what(), "device_test.cpp"));
  }
}

using gpu_Timer = OnGpu;
TEST_F(gpu_Timer, MeasuresItsOwnOverhead) {
  EXPECT_GT(gpu.device->event_seconds, 0);
  EXPECT_LT(gpu.device->event_seconds, 5e-6);  // no more than an empty launch takes
}

TEST_F(gpu_Timer, KnowsTheStepOfItsClock) {
  const double step = gpu.device->event_step_seconds;
  EXPECT_GT(step, 0);
  EXPECT_LE(step, 1e-6);
  // every measured time is a multiple of the step
  const auto launch = [&] { hold(nullptr, 0, 3000, target().queue().stream); };
  const Samples samples = target().sample({Regime::hot, 32, 1, 5e-6}, launch);
  for (const double seconds : samples.seconds) {
    const double steps = (seconds + gpu.device->event_seconds) / step;
    EXPECT_NEAR(steps, std::round(steps), 0.05) << seconds;
  }
}

// a launch that writes into L2: its bytes still have to reach DRAM
TEST_F(gpu_Timer, WaitsForWrittenBytesWhenDraining) {
  const std::int64_t floats = gpu.device->l2_bytes / 10;  // 40 % of L2
  const Array data(target(), floats);
  const auto median = [&](Regime regime, const std::function<void()>& launch) {
    std::vector<double> all;
    for (int block = 0; block < 12; ++block)
      for (const double s : target().sample({regime, 8, 1, 1e-5}, launch).seconds) all.push_back(s);
    return middle(all);
  };
  const auto write = [&] { target().queue_poison(data.data(), floats); };
  median(Regime::cold, write);  // warms it up
  const double dram = 2 * gpu.device->memory_clock_hz * gpu.device->memory_bus_bits / 8;
  const double least = 4 * static_cast<double>(floats) / dram;
  const double cold = median(Regime::cold, write), drained = median(Regime::drained, write);
  EXPECT_GE(drained, least);
  EXPECT_GT(drained - cold, 0.5 * least) << cold << ' ' << drained;
  // a launch that only waits takes no longer when drained
  const auto wait = [&] { hold(nullptr, 0, 20000, target().queue().stream); };
  EXPECT_NEAR(median(Regime::drained, wait), median(Regime::cold, wait), 1.5e-6);
}

/// The median time of a launch of some microseconds, with this many samples per block.
double seconds_in_blocks_of(int count) {
  Target& target = targets().of(Backend::gpu);
  const Array data(target, 1 << 16);
  const auto launch = [&] { target.queue_poison(data.data(), 1 << 16); };
  std::vector<double> all;
  while (all.size() < 96) {
    const Samples block = target.sample({Regime::cold, count, 1, 5e-6}, launch);
    all.insert(all.end(), block.seconds.begin(), block.seconds.end());
  }
  return middle(all);
}

using gpu_Target = OnGpu;
TEST_F(gpu_Target, TimesALaunchEquallyInBlocksOfAnySize) {
  seconds_in_blocks_of(8);  // warms it up
  EXPECT_NEAR(seconds_in_blocks_of(8), seconds_in_blocks_of(1), 0.2e-6);
}

TEST_F(gpu_Target, TimesALaunchThatWaitsForTheStream) {
  const Samples samples =
      target().sample({Regime::hot, 2, 1, 1e-5}, [&] { target().synchronize(); });
  EXPECT_EQ(samples.seconds.size(), 2u);
}

// a launch takes as long among others as it does on its own
TEST_F(gpu_Target, IsNeverIdleInSustainedPower) {
  const double seconds = 200e-6;
  const auto launch = [&] { hold(nullptr, 0, 200'000, target().queue().stream); };
  const Sustained found = target().sustain(launch, seconds);
  for (const double window : found.seconds) EXPECT_NEAR(window, seconds, 0.05 * seconds);
}

TEST_F(gpu_Target, HasTheDigestsOfTheCpu) {
  const auto of = [](Backend backend, const std::vector<Floats>& all) {
    Target& target = targets().of(backend);
    std::vector<Array> arrays;
    std::vector<std::span<const float>> spans;
    for (const auto& floats : all) {
      arrays.emplace_back(target, std::ssize(floats));
      target.copy_in(arrays.back().data(), floats.data(), std::ssize(floats));
      spans.emplace_back(arrays.back().data(), floats.size());
    }
    return target.digests(spans);
  };
  std::vector<Floats> all;
  for (const std::int64_t columns : {1, 31, 257, 65537, 1 << 22})
    all.push_back(make_input(1, 0, 1, columns, columns, Values::reals, 1).elements);
  const auto before = of(Backend::gpu, all);
  EXPECT_EQ(before, of(Backend::cpu, all));
  for (auto& floats : all) std::swap(floats[0], floats[floats.size() - guard - 1]);
  const auto after = of(Backend::gpu, all);
  EXPECT_EQ(before[0], after[0]);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_NE(before[i], after[i]) << i;
}

void for_each_pitched(const std::function<void(std::int64_t columns, void*, std::size_t)>& look) {
  for (const std::int64_t columns : {1, 127, 128, 129, 8191, 8192, 8193}) {
    void* data = nullptr;
    std::size_t pitch = 0;
    check(cudaMallocPitch(&data, &pitch, columns * sizeof(float), 3));
    cudaFree(data);
    look(columns, data, pitch);
  }
}

using gpu_Layout = OnGpu;
// Layout::pitched promises cudaMallocPitch's layout, so it is compared with that
TEST_F(gpu_Layout, IsPitchedAsCudaMallocPitchPlacesRows) {
  for_each_pitched([](std::int64_t columns, void*, std::size_t pitch) {
    EXPECT_EQ(pitch, leading_dimension(3, columns, Layout::pitched, 0) * sizeof(float)) << columns;
  });
}

// 128 bytes is the largest segment of S3's GPU
TEST_F(gpu_Layout, OfCudaMallocPitchIsAlignedToSegments) {
  for_each_pitched([](std::int64_t columns, void* data, std::size_t pitch) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 128, 0) << columns;
    EXPECT_EQ(pitch % 128, 0) << columns;
  });
}

}  // namespace
}  // namespace recheck
