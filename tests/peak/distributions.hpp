// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "../../experiments/harness/inputs.hpp"

namespace recheck::peak {

/// One way to fill A (m, k) and B (k, n), on which promises are held against errors. Row-major and
/// packed, so that leading dimensions are k and n.
struct Distribution {
  std::string_view name;
  /// A pure function of (seed, operand, index): make_input()'s numbers, transformed. k is even.
  std::vector<HostMatrix> (*make)(const Shape&, std::uint64_t seed);
};

std::span<const Distribution> distributions();

}  // namespace recheck::peak
