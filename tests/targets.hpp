// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../experiments/harness/device/target.hpp"

namespace recheck {

/// What the rows of all tests of a process run on: to look for a GPU, and to make one ready, takes
/// longer than most tests.
inline Targets& targets() {
  static auto& all = *new Targets(find_gpu());  // never destroyed: CUDA may be gone before it
  return all;
}
inline const Gpu& found_gpu() { return targets().gpu(); }

}  // namespace recheck
