// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace recheck {

/// Extents along an experiment's axes, for matmul {m, n, k}. Written "4096x512x2048".
using Shape = std::vector<std::int64_t>;

std::string to_string(const Shape& shape);

/// Reads "4096x512x2048". Throws std::invalid_argument, in one line, unless there are `axes`
/// extents, each from 0 to 2^30 (kernels count in int, and step beyond the end).
Shape parse_shape(std::string_view text, std::size_t axes);

}  // namespace recheck
