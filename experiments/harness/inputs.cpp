// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <random>

#include "../../reference/parallel.hpp"
#include "mix.hpp"

namespace recheck {

std::uint64_t drawn() {
  std::random_device random;
  const std::uint64_t high = random();
  return high << 32 | random();
}

std::uint64_t& nonce() {
  static std::uint64_t of_process = std::random_device{}();
  return of_process;
}

int integer_limit(std::int64_t terms) {
  int limit = 64;
  while (limit > 1 && limit * limit * terms > (1 << 24)) --limit;
  return limit;
}

int limit_beside_wide(std::int64_t terms) {
  if (terms > 1 << 22) return 0;
  int limit = 64;
  while (limit * limit * terms > (1 << 23)) --limit;
  return limit;
}

int i32_limit(std::int64_t terms, Values values) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const auto widest = most / std::max<std::int64_t>(1, terms);
  const auto limit = values == Values::integers ? std::min<std::int64_t>(64, widest) : widest;
  return static_cast<int>(std::max<std::int64_t>(1, limit));
}

namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

void fill_guard(HostMatrix& matrix) { std::fill_n(matrix.elements.end() - guard, guard, nan); }

}  // namespace

HostMatrix unwritten(std::int64_t rows, std::int64_t columns, Layout layout, std::int64_t ld) {
  if (layout == Layout::column_major) std::swap(rows, columns);
  return {rows, columns, ld, Floats(storage(rows, ld))};
}

void fill(HostMatrix& matrix, std::uint64_t seed, int operand, Values values, int limit,
          Element element, std::int64_t wide_every) {
  const std::uint64_t stream = mix(mix(seed) + static_cast<std::uint64_t>(operand));
  const auto columns = matrix.columns, ld = matrix.ld;
  reference::parallel_for(matrix.rows, [&](std::int64_t i) {
    float* row = matrix.elements.data() + i * ld;
    for (std::int64_t j = 0; j < columns; ++j) {
      // the index within the matrix, not within its storage: padding does not change the values
      const std::uint64_t h = mix(stream + static_cast<std::uint64_t>(i * columns + j));
      if (values == Values::reals && element == Element::fp32) {
        // an odd multiple of 2^-24: exact in fp32, and never zero
        row[j] = static_cast<float>(static_cast<int>(2 * (h >> 41) + 1) - (1 << 23)) * 0x1p-24f;
      } else {
        const bool is_wide = wide_every > 0 && (i + j) % wide_every == 0;
        const int magnitude = is_wide
                                  ? wide - 2 * static_cast<int>((h >> 33) % 400)
                                  : 1 + static_cast<int>((h >> 33) % static_cast<unsigned>(limit));
        const int value = (h & 1) != 0 ? -magnitude : magnitude;
        row[j] = element == Element::i32 ? std::bit_cast<float>(value) : static_cast<float>(value);
      }
    }
    std::fill(row + columns, row + ld, nan);
  });
  fill_guard(matrix);
}

HostMatrix make_input(std::uint64_t seed, int operand, std::int64_t rows, std::int64_t columns,
                      std::int64_t ld, Values values, int limit, Element element,
                      std::int64_t wide_every) {
  HostMatrix matrix = unwritten(rows, columns, Layout::row_major, ld);
  fill(matrix, seed, operand, values, limit, element, wide_every);
  return matrix;
}

std::int64_t leading_dimension(std::int64_t rows, std::int64_t columns, Layout layout,
                               std::int64_t padding) {
  constexpr std::int64_t pitch = 512 / sizeof(float);
  const auto needed = (layout == Layout::column_major ? rows : columns) + padding;
  if (layout == Layout::row_major) return std::max<std::int64_t>(1, needed);
  return std::max<std::int64_t>(1, (needed + pitch - 1) / pitch) * pitch;
}

void relayout(const HostMatrix& matrix, Layout layout, HostMatrix& result) {
  const bool by_columns = layout == Layout::column_major;
  const auto lines = result.rows, length = result.columns, ld = result.ld;
  // by bands of lines, and along them in short steps, so that what is read across stays in cache
  constexpr std::int64_t band = 16;
  reference::parallel_for((lines + band - 1) / band, [&](std::int64_t b) {
    const auto end = std::min(lines, (b + 1) * band);
    for (std::int64_t j0 = 0; j0 < length; j0 += band)
      for (std::int64_t i = b * band; i < end; ++i)
        for (std::int64_t j = j0; j < std::min(length, j0 + band); ++j)
          result.elements[i * ld + j] =
              matrix.elements[by_columns ? j * matrix.ld + i : i * matrix.ld + j];
    for (std::int64_t i = b * band; i < end; ++i)
      std::fill_n(result.elements.begin() + i * ld + length, ld - length, nan);
  });
  fill_guard(result);
}

HostMatrix relayout(const HostMatrix& matrix, Layout layout, std::int64_t ld) {
  HostMatrix result = unwritten(matrix.rows, matrix.columns, layout, ld);
  relayout(matrix, layout, result);
  return result;
}

}  // namespace recheck
