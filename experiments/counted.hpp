// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "../kernels/arguments.hpp"

namespace recheck {

/// An extent as kernels count it: an int, with room to round up. Throws std::length_error with a
/// one-line message if it is larger.
inline int counted(std::int64_t extent) {
  if (extent <= kernels::most_extent) return static_cast<int>(extent);
  throw std::length_error("an extent of " + std::to_string(extent) +
                          " is too large: kernels take at most " +
                          std::to_string(kernels::most_extent));
}

}  // namespace recheck
