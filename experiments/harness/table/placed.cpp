// SPDX-License-Identifier: Apache-2.0
#include "placed.hpp"

namespace recheck {

std::vector<Placed> placed(const Problem& problem, const Shape& shape, std::int64_t padding) {
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
