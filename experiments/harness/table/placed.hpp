// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "experiment.hpp"

namespace recheck {

/// An output's place in the shared memory, `at` floats on: aligned to 256 bytes, between guards.
struct Placed {
  Extent extent;
  std::int64_t ld, at;
  [[nodiscard]] std::int64_t floats() const { return words_of(extent.rows * ld, extent.element); }
};
/// The outputs of a problem, placed after the first guard, with leading dimensions widened by
/// `padding`.
inline std::vector<Placed> placed(const Problem& problem, const Shape& shape,
                                  std::int64_t padding) {
  std::vector<Placed> all;
  std::int64_t at = guard;
  for (const auto& extent : problem.output(shape)) {
    // each with a different padding, so that swapped leading dimensions are detected
    const auto more = padding == 0 ? 0 : padding + 7 * std::ssize(all);
    all.push_back({extent, std::max<std::int64_t>(1, extent.columns + more), at});
    constexpr std::int64_t alignment = 64;
    at += (all.back().floats() + guard + alignment - 1) / alignment * alignment;
  }
  return all;
}

}  // namespace recheck
