// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../../reference/matrix.hpp"
#include "strategy.hpp"

namespace recheck {

/// Integers of at most 64 make sums of products exact in fp32, so a wrong index cannot hide in a
/// tolerance. Reals in (-1/2, 1/2) show rounding, and are timed. For integer elements, `reals` are
/// integers too, as large as their sums may be without overflowing 32 bits.
enum class Values { integers, reals };

/// An input's values, if the harness's own do not fit: a distribution, sorted or sparse data. A
/// pure function of the operand's seed, which differs between proofs, the element's number (row by
/// row, without padding) and the shape; mix(seed + index) is random.
using ValueOf = double (*)(std::uint64_t seed, std::int64_t index, const Shape& shape);

/// Memory of a vector whose elements are indeterminate until written. A page is mapped at its first
/// write, which takes longer than the write itself: many cores can share that.
template <typename T>
struct Unwritten : std::allocator<T> {
  template <typename U>
  struct rebind {  // NOLINT(readability-identifier-naming): the standard's name
    using other = Unwritten<U>;
  };
  template <typename U, typename... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    if constexpr (sizeof...(arguments) == 0)
      ::new (static_cast<void*>(at)) U;
    else
      std::construct_at(at, std::forward<Arguments>(arguments)...);
  }
};
using Floats = std::vector<float, Unwritten<float>>;

/// An oracle's view of a matrix on the host: `words` starts at its first element.
struct View {
  std::int64_t rows, columns, ld;
  std::span<const float> words;
  Element element = Element::fp32;
  bool has_own_length = false;  // rows or columns are as the launch reported

  /// A row; throws unless T is the type of the elements.
  template <typename T>
  [[nodiscard]] std::span<const T> row(std::int64_t i) const {
    if (element != element_of<T>())
      throw std::invalid_argument("a matrix of " + std::string(name_of(element)) +
                                  " is looked at as one of " +
                                  std::string(name_of(element_of<T>())));
    return {reinterpret_cast<const T*>(words.data()) + i * ld, static_cast<std::size_t>(columns)};
  }
  /// An element as a double; 64-bit integers may be rounded.
  [[nodiscard]] double at(std::int64_t i, std::int64_t j) const {
    return with_type(element, [&]<typename T>() { return static_cast<double>(row<T>(i)[j]); });
  }
};

/// A matrix on the host, row-major unless relayout() made it. Every bit beyond each row and after
/// the last row is set, a NaN: reading outside the matrix spoils the result.
struct HostMatrix {
  std::int64_t rows, columns, ld;
  Floats elements;  // storage(rows, ld, element), as words
  Element element = Element::fp32;
  unsigned char around = 0xff;  // value of each byte after its rows, once filled
  [[nodiscard]] reference::MatrixView view() const { return {rows, columns, elements.data(), ld}; }
  [[nodiscard]] View typed() const { return {rows, columns, ld, elements, element}; }
  template <typename T>
  [[nodiscard]] std::span<const T> row(std::int64_t i) const {
    return typed().row<T>(i);
  }
  template <typename T>
  [[nodiscard]] std::span<T> row(std::int64_t i) {
    const auto own = typed().row<T>(i);
    return {const_cast<T*>(own.data()), own.size()};
  }
};

/// 32-bit words before an output and after every matrix that nothing may write.
inline constexpr std::int64_t guard = 256;

/// The number of words that this many elements take.
constexpr std::int64_t words_of(std::int64_t count, Element element) {
  return (count * size_of(element) + 3) / 4;
}
/// Words of storage for a rows×ld matrix and the guard after it.
constexpr std::int64_t storage(std::int64_t rows, std::int64_t ld,
                               Element element = Element::fp32) {
  return words_of(rows * ld, element) + guard;
}

/// The leading dimension of a rows×columns matrix in a layout, at least `padding` more than
/// required.
inline std::int64_t leading_dimension(std::int64_t rows, std::int64_t columns, Layout layout,
                                      std::int64_t padding, Element element = Element::fp32) {
  const std::int64_t pitch = 512 / size_of(element);
  const auto needed = (layout == Layout::column_major ? rows : columns) + padding;
  if (layout == Layout::row_major) return std::max<std::int64_t>(1, needed);
  return std::max<std::int64_t>(1, (needed + pitch - 1) / pitch) * pitch;
}

}  // namespace recheck
