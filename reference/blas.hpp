// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace recheck::reference {

/// A leading dimension as BLAS takes it, which requires at least 1 even without columns. Throws
/// std::length_error if it exceeds an int.
inline int blas_ld(std::int64_t ld) {
  if (ld > std::numeric_limits<int>::max())
    throw std::length_error("BLAS counts in 32 bits, and the leading dimension is " +
                            std::to_string(ld));
  return static_cast<int>(std::max<std::int64_t>(1, ld));
}

}  // namespace recheck::reference
