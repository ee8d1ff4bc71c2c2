// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "../../experiments/harness/cuda.hpp"
#include "../../experiments/harness/inputs.hpp"
#include "../../experiments/harness/target.hpp"

namespace recheck {
namespace {

TEST(Unusable, NamesBothVersionsWhenTheDriverIsTooOld) {
  const auto reason = unusable(cudaErrorInsufficientDriver, 0, 12040, 13000);
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("12.4"), std::string::npos) << *reason;
  EXPECT_NE(reason->find("13.0"), std::string::npos) << *reason;
  EXPECT_NE(reason->find("update the driver"), std::string::npos) << *reason;
}

TEST(Unusable, SaysThatThereIsNoDevice) {
  EXPECT_EQ(unusable(cudaErrorInsufficientDriver, 0, 0, 13000), "no CUDA device");
  EXPECT_EQ(unusable(cudaErrorNoDevice, 0, 13000, 13000), "no CUDA device");
  EXPECT_EQ(unusable(cudaSuccess, 0, 13000, 13000), "no CUDA device");
}

TEST(Unusable, IsNothingWhereADeviceAnswers) {
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
    EXPECT_NE(std::string(error.what()).find("device_test.cpp"), std::string::npos);
  }
}

TEST(gpu_Timer, KnowsItsOwnShare) {
  const Gpu gpu = find_gpu();
  if (!gpu.device) GTEST_SKIP() << *gpu.reason;
  EXPECT_GT(gpu.device->event_seconds, 0);
  EXPECT_LT(gpu.device->event_seconds, 5e-6);  // no more than a launch of nothing
}

// Layout::pitched is a promise about cudaMallocPitch, so it has to be held against that
TEST(gpu_Layout, IsPitchedAsCudaMallocPitchPlacesRows) {
  if (const Gpu gpu = find_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  for (const std::int64_t columns : {1, 127, 128, 129, 8191, 8192, 8193}) {
    void* data = nullptr;
    std::size_t pitch = 0;
    check(cudaMallocPitch(&data, &pitch, columns * sizeof(float), 3));
    cudaFree(data);
    EXPECT_EQ(pitch, leading_dimension(3, columns, Layout::pitched, 0) * sizeof(float)) << columns;
  }
}

// 128 bytes is the largest segment of S3's GPU
TEST(gpu_Layout, OfCudaMallocPitchIsAlignedToSegments) {
  if (const Gpu gpu = find_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  for (const std::int64_t columns : {1, 127, 128, 129, 8191, 8192, 8193}) {
    void* data = nullptr;
    std::size_t pitch = 0;
    check(cudaMallocPitch(&data, &pitch, columns * sizeof(float), 3));
    cudaFree(data);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 128, 0) << columns;
    EXPECT_EQ(pitch % 128, 0) << columns;
  }
}

}  // namespace
}  // namespace recheck
