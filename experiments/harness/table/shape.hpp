// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace recheck {

/// Extents along an experiment's axes, for matmul {m, n, k}. Written "4096x512x2048".
using Shape = std::vector<std::int64_t>;

/// Kernels count in int, and may step beyond the end.
inline constexpr std::int64_t most_extent = 1 << 30;

inline std::string to_string(const Shape& shape) {
  std::string text;
  for (const auto extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

/// Parses "4096x512x2048". Throws std::invalid_argument, in one line, unless there are `axes`
/// extents, each from 0 to most_extent.
inline Shape parse_shape(std::string_view text, std::size_t axes) {
  Shape shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::int64_t extent = 0;
    const auto [rest, error] = std::from_chars(at, end, extent);
    if (error != std::errc{} || extent < 0 || extent > most_extent) break;
    shape.push_back(extent);
    if (rest == end && shape.size() == axes) return shape;
    if (rest == end || *rest != 'x') break;
    at = rest + 1;
  }
  throw std::invalid_argument("'" + std::string(text) + "' is not a shape: give " +
                              std::to_string(axes) + " extents from 0 to 1073741824, such as " +
                              to_string(Shape(axes, 1024)));
}

}  // namespace recheck
