// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "experiment.hpp"
#include "inputs.hpp"

namespace recheck {

/// An output in the memory of all, behind so many floats: on 256 bytes, and guards between them.
struct Placed {
  Extent extent;
  std::int64_t ld, at;
  [[nodiscard]] std::int64_t floats() const { return words_of(extent.rows * ld, extent.element); }
};
/// The outputs of a problem, their leading dimensions widened by `padding`, from the first guard
/// on.
std::vector<Placed> placed(const Problem& problem, const Shape& shape, std::int64_t padding);

}  // namespace recheck
