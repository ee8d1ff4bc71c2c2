// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace recheck::kernels {

/// Whether all rows of a matrix of floats start on 16 bytes, so that four neighbours can be moved
/// as one vector and TMA accepts them; ld counts floats.
inline bool on_vectors(const void* base, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(base) % 16 == 0 && ld % 4 == 0;
}

}  // namespace recheck::kernels
