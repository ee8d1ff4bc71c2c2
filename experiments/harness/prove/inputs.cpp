// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>

#include "../../../reference/parallel.hpp"
#include "../base/mix.hpp"

namespace recheck {

std::uint64_t& nonce() {
  static std::uint64_t of_process = std::random_device{}();
  return of_process;
}

int integer_limit(std::int64_t terms) {
  int limit = 64;
  while (limit > 1 && limit * limit * terms > (1 << 24)) --limit;
  return limit;
}

int limit_with_wide_factor(std::int64_t terms) {
  if (terms > 1 << 22) return 0;
  int limit = 64;
  while (limit * limit * terms > (1 << 23)) --limit;
  return limit;
}

int limit_of(Element element, std::int64_t terms, Values values) {
  return with_type(element, [&]<typename T>() {
    if constexpr (!std::is_integral_v<T>) {
      return integer_limit(terms);
    } else {
      constexpr std::uint64_t own = std::numeric_limits<T>::max();
      constexpr int most = std::numeric_limits<std::int32_t>::max();
      const auto widest = most / std::max<std::int64_t>(1, terms);
      const auto limit = values == Values::integers ? std::min<std::int64_t>(64, widest) : widest;
      return static_cast<int>(
          std::clamp<std::uint64_t>(limit, 1, std::min<std::uint64_t>(own, most)));
    }
  });
}

namespace {

std::uint64_t stream_of(std::uint64_t seed, int operand) {
  return mix(mix(seed) + static_cast<std::uint64_t>(operand));
}

/// Fills the bytes after the rows of a matrix.
void poison_around(HostMatrix& matrix) {
  auto* bytes = reinterpret_cast<unsigned char*>(matrix.elements.data());
  const auto size = size_of(matrix.element), end = matrix.rows * matrix.ld * size;
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    std::fill(bytes + (i * matrix.ld + matrix.columns) * size, bytes + (i + 1) * matrix.ld * size,
              matrix.around);
  std::fill(bytes + end, bytes + std::ssize(matrix.elements) * sizeof(float), matrix.around);
}

/// Writes value(i, j) to each element.
template <typename T>
void write_elements(HostMatrix& matrix, const auto& value) {
  auto* elements = reinterpret_cast<T*>(matrix.elements.data());
  reference::parallel_pieces(matrix.rows, matrix.columns, [&](auto i, auto begin, auto end) {
    for (auto j = begin; j < end; ++j) elements[i * matrix.ld + j] = static_cast<T>(value(i, j));
  });
  poison_around(matrix);
}

}  // namespace

HostMatrix unwritten(std::int64_t rows, std::int64_t columns, Layout layout, std::int64_t ld,
                     Element element) {
  if (layout == Layout::column_major) std::swap(rows, columns);
  return {rows, columns, ld, Floats(storage(rows, ld, element)), element};
}

void fill(HostMatrix& matrix, std::uint64_t seed, int operand, Values values, int limit,
          std::int64_t wide_every) {
  const std::uint64_t stream = stream_of(seed, operand);
  with_type(matrix.element, [&]<typename T>() {
    write_elements<T>(matrix, [&](std::int64_t i, std::int64_t j) {
      // index by matrix element, not by storage: padding must not change the values
      const std::uint64_t h = mix(stream + static_cast<std::uint64_t>(i * matrix.columns + j));
      if constexpr (!std::is_integral_v<T>) {
        // an odd multiple of the last place is exact in fp32 or fp64, and never zero
        if (values == Values::reals && std::is_same_v<T, double>)
          return static_cast<double>(static_cast<std::int64_t>(h >> 11 | 1) - (1LL << 52)) *
                 0x1p-53;
        if (values == Values::reals)
          return (static_cast<int>(2 * (h >> 41) + 1) - (1 << 23)) * 0x1p-24;
      }
      // in [0, count); a division would take longer than everything else
      const auto below = [h](std::uint64_t count) {
        return static_cast<std::int64_t>((h >> 32) * count >> 32);
      };
      const bool is_wide = wide_every > 0 && (i + j) % wide_every == 0;
      const std::int64_t magnitude = is_wide ? wide - 2 * below(400) : 1 + below(limit);
      const std::int64_t sign = std::is_unsigned_v<T> ? 1 : 1 - 2 * static_cast<int>(h & 1);
      return static_cast<double>(sign * magnitude);
    });
  });
}

void fill(HostMatrix& matrix, std::uint64_t seed, int operand, ValueOf value, const Shape& shape) {
  const std::uint64_t stream = stream_of(seed, operand);
  std::atomic<bool> fits = true;
  with_type(matrix.element, [&]<typename T>() {
    write_elements<T>(matrix, [&](std::int64_t i, std::int64_t j) {
      const double x = value(stream, i * matrix.columns + j, shape);
      if constexpr (std::is_integral_v<T>) {
        using Limits = std::numeric_limits<T>;
        // 2^63 and 2^64 are doubles; one less may not be
        const bool held = x >= static_cast<double>(Limits::min()) &&
                          x < std::ldexp(1.0, Limits::digits) && x == std::floor(x);
        if (!held) fits = false;
        return held ? x : 0;
      }
      return x;
    });
  });
  if (!fits)
    throw std::invalid_argument("a value of input " + std::to_string(operand + 1) +
                                " does not fit into " + std::string(name_of(matrix.element)));
}

HostMatrix make_input(std::uint64_t seed, int operand, std::int64_t rows, std::int64_t columns,
                      std::int64_t ld, Values values, int limit, Element element,
                      std::int64_t wide_every) {
  HostMatrix matrix = unwritten(rows, columns, Layout::row_major, ld, element);
  fill(matrix, seed, operand, values, limit, wide_every);
  return matrix;
}

void relayout(const HostMatrix& matrix, Layout layout, HostMatrix& result) {
  const bool by_columns = layout == Layout::column_major;
  const auto lines = result.rows, length = result.columns, ld = result.ld;
  // in bands of lines and in short steps along them, so that reads across stay in cache
  constexpr std::int64_t band = 16;
  with_type(matrix.element, [&]<typename T>() {
    const auto* from = reinterpret_cast<const T*>(matrix.elements.data());
    auto* to = reinterpret_cast<T*>(result.elements.data());
    reference::parallel_for((lines + band - 1) / band, [&](std::int64_t b) {
      const auto end = std::min(lines, (b + 1) * band);
      for (std::int64_t j0 = 0; j0 < length; j0 += band)
        for (std::int64_t i = b * band; i < end; ++i)
          for (std::int64_t j = j0; j < std::min(length, j0 + band); ++j)
            to[i * ld + j] = from[by_columns ? j * matrix.ld + i : i * matrix.ld + j];
    });
  });
  result.around = matrix.around;
  poison_around(result);
}

HostMatrix relayout(const HostMatrix& matrix, Layout layout, std::int64_t ld) {
  HostMatrix result = unwritten(matrix.rows, matrix.columns, layout, ld, matrix.element);
  relayout(matrix, layout, result);
  return result;
}

}  // namespace recheck
