// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "../../harness/inputs.hpp"

namespace recheck::peak {

/// What a distribution is for: errors as users meet them; errors as large as inputs can make them,
/// for bounds to be held against; or no errors to speak of, as a row is right on it, or it is not.
enum class Inputs { ordinary, adversarial, special };

constexpr std::string_view name_of(Inputs inputs) {
  constexpr std::string_view names[] = {"ordinary", "adversarial", "special"};
  return names[static_cast<int>(inputs)];
}

/// One way to fill A (m, k) and B (k, n), for the study of accuracy. Row-major and packed, so that
/// leading dimensions are k and n.
struct Distribution {
  std::string_view name, says;  // for programs; for people, in one line
  Inputs kind;
  /// A pure function of (seed, operand, index): make_input()'s numbers, transformed. k is even.
  std::vector<HostMatrix> (*make)(const Shape&, std::uint64_t seed);
};

std::span<const Distribution> distributions();

}  // namespace recheck::peak
