// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

#include "matrix.hpp"
#include "parallel.hpp"

namespace recheck::reference {

/// out = inᵀ: in is rows×columns, out is columns×rows, row-major; leading dimensions in elements.
/// Source: the SDK's computeTransposeGold, which its transposeNew checks against (A17).
void transpose_serial(int rows, int columns, const float* in, std::int64_t ldin, float* out,
                      std::int64_t ldout);

/// The number of elements of a matrix that differ in any bit from expected(i, j). A transposition
/// does not round, so the bound is 0. Goes by tiles: `expected` may read across rows.
template <typename Expected>
std::int64_t count_differences(MatrixView matrix, Expected expected) {
  constexpr std::int64_t tile = 32;
  std::atomic<std::int64_t> count = 0;
  parallel_for((matrix.rows + tile - 1) / tile, [&](std::int64_t band) {
    std::int64_t own = 0;
    for (std::int64_t j0 = 0; j0 < matrix.columns; j0 += tile)
      for (std::int64_t i = band * tile; i < std::min(matrix.rows, (band + 1) * tile); ++i)
        for (std::int64_t j = j0; j < std::min(matrix.columns, j0 + tile); ++j)
          own += std::bit_cast<std::uint32_t>(matrix.row(i)[j]) !=
                 std::bit_cast<std::uint32_t>(static_cast<float>(expected(i, j)));
    if (own > 0) count += own;
  });
  return count;
}

}  // namespace recheck::reference
