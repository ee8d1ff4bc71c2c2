// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "../harness/inputs.hpp"

namespace recheck::matmul {

/// One way to fill A (m, k) and B (k, n), for the study of accuracy. Row-major and packed, so that
/// leading dimensions are k and n.
struct Distribution {
  std::string_view name, says;  // for programs; for people, in one line
  bool special;                 // has no error to speak of: a row is right on it, or it is not
  /// A pure function of (seed, operand, index): make_input()'s numbers, transformed. k is even.
  std::vector<HostMatrix> (*make)(const Shape&, std::uint64_t seed);
};

std::span<const Distribution> distributions();

}  // namespace recheck::matmul
