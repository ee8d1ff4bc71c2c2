// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <limits>

#include "../../reference/parallel.hpp"

namespace recheck {
namespace {

/// splitmix64's finalizer: every bit of the index reaches every bit of the value.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

int integer_limit(std::int64_t terms) {
  int limit = 64;
  while (limit > 1 && limit * limit * terms > (1 << 24)) --limit;
  return limit;
}

HostMatrix make_input(std::uint64_t seed, int operand, std::int64_t rows, std::int64_t columns,
                      std::int64_t ld, Values values, int limit) {
  HostMatrix matrix{rows, columns, ld,
                    std::vector<float>(storage(rows, ld), std::numeric_limits<float>::quiet_NaN())};
  const std::uint64_t stream = mix(mix(seed) + static_cast<std::uint64_t>(operand));
  reference::parallel_for(rows, [&](std::int64_t i) {
    float* row = matrix.elements.data() + i * ld;
    for (std::int64_t j = 0; j < columns; ++j) {
      // the index within the matrix, not within its storage: padding does not change the values
      const std::uint64_t h = mix(stream + static_cast<std::uint64_t>(i * columns + j));
      if (values == Values::reals) {
        // an odd multiple of 2^-24: exact in fp32, and never zero
        row[j] = static_cast<float>(static_cast<int>(2 * (h >> 41) + 1) - (1 << 23)) * 0x1p-24f;
      } else {
        const int magnitude = 1 + static_cast<int>((h >> 33) % static_cast<unsigned>(limit));
        row[j] = static_cast<float>((h & 1) != 0 ? -magnitude : magnitude);
      }
    }
  });
  return matrix;
}

}  // namespace recheck
