// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "experiment.hpp"
#include "inputs.hpp"

namespace recheck {

/// An output's place in the shared memory, `at` floats on: aligned to 256 bytes, between guards.
struct Placed {
  Extent extent;
  std::int64_t ld, at;
  [[nodiscard]] std::int64_t floats() const { return words_of(extent.rows * ld, extent.element); }
};
/// The outputs of a problem, placed after the first guard, with leading dimensions widened by
/// `padding`.
std::vector<Placed> placed(const Problem& problem, const Shape& shape, std::int64_t padding);

}  // namespace recheck
