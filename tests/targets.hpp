// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "../experiments/harness/device/target.hpp"

namespace recheck {

/// The targets of all tests in a process: finding and preparing a GPU takes longer than most tests.
inline Targets& targets() {
  static auto& all = *new Targets(find_gpu());  // never destroyed: CUDA may end first
  return all;
}
inline const Gpu& found_gpu() { return targets().gpu(); }

/// A test that is skipped without a GPU.
class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!gpu.device) GTEST_SKIP() << *gpu.reason;
  }
  static Target& target() { return targets().of(Backend::gpu); }
  const Gpu& gpu = found_gpu();
};

}  // namespace recheck
