// SPDX-License-Identifier: Apache-2.0
//
// Replaces gpu_target.cpp in a build without the CUDA Toolkit: GPU rows give that reason.
#include <stdexcept>

#include "target.hpp"

namespace recheck {

Gpu find_gpu() {
  Gpu gpu;
  gpu.reason = "built without the CUDA Toolkit";
  return gpu;
}

std::unique_ptr<Target> make_gpu_target(const Device&) {
  throw std::logic_error("built without the CUDA Toolkit");
}

FirstCall first_call(const Strategy&, const Shape&, std::span<const HostMatrix>,
                     std::span<const Placed>, std::span<float>) {
  throw std::logic_error("built without the CUDA Toolkit");
}

}  // namespace recheck
