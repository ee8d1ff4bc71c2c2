// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Small integers, of at most 64, make sums of products exact in fp32, so that a wrong index has no
/// tolerance to hide in; reals in (-1/2, 1/2) show rounding, and are what is timed. Where elements
/// are integers, so are the latter, as large as sums of them may be without an overflow of 32 bits.
enum class Values { integers, reals };

/// What an input holds if the harness's values will not do: a distribution, something sorted or
/// sparse. A pure function of the operand's seed, which differs between proofs, of the element's
/// number (row by row, without padding) and of the shape; mix(seed + index) is random.
using ValueOf = double (*)(std::uint64_t seed, std::int64_t index, const Shape& shape);

/// Memory of a vector whose elements hold anything until they are written. A page is mapped when it
/// is first written, which takes longer than to write it: many cores do so side by side.
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

/// What oracles see of a matrix on the host: `words` begin with its first element.
struct View {
  std::int64_t rows, columns, ld;
  std::span<const float> words;
  Element element = Element::fp32;
  bool has_own_length = false;  // rows or columns are as many as the launch said

  /// A row; throws unless its elements are of this type.
  template <typename T>
  [[nodiscard]] std::span<const T> row(std::int64_t i) const {
    if (element != element_of<T>())
      throw std::invalid_argument("a matrix of " + std::string(name_of(element)) +
                                  " is looked at as one of " +
                                  std::string(name_of(element_of<T>())));
    return {reinterpret_cast<const T*>(words.data()) + i * ld, static_cast<std::size_t>(columns)};
  }
  /// An element as a double; integers of 64 bits may be rounded.
  [[nodiscard]] double at(std::int64_t i, std::int64_t j) const {
    return with_type(element, [&]<typename T>() { return static_cast<double>(row<T>(i)[j]); });
  }
};

/// A matrix on the host, row-major unless relayout() has made it. Beyond each row and after the
/// last one every bit is set, a NaN, so that whatever reads outside the matrix spoils its result.
struct HostMatrix {
  std::int64_t rows, columns, ld;
  Floats elements;  // storage(rows, ld, element), as words
  Element element = Element::fp32;
  unsigned char around = 0xff;  // each byte behind its rows, once it is filled
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

/// Words of 32 bits before an output and behind every matrix that belong to nobody.
inline constexpr std::int64_t guard = 256;

/// Words that so many elements take.
constexpr std::int64_t words_of(std::int64_t count, Element element) {
  return (count * size_of(element) + 3) / 4;
}
/// Words of storage of a rows×ld matrix and the guard behind it.
constexpr std::int64_t storage(std::int64_t rows, std::int64_t ld,
                               Element element = Element::fp32) {
  return words_of(rows * ld, element) + guard;
}

/// Bits that nobody can foretell.
std::uint64_t drawn();

/// What the proofs' integers hang on besides a seed: drawn anew by each process, so that no table
/// of results can have been made for them. What is refused names it; who sets it before the first
/// inputs are made gets them again (--nonce).
std::uint64_t& nonce();

/// The largest b for which `terms` products of integers in [-b, b] sum exactly in fp32, at most 64.
int integer_limit(std::int64_t terms);

/// A magnitude that 11 bits do not hold, which is what TF32 and fp16 have, and bf16 has fewer.
inline constexpr int wide = 2847;

/// The same where one factor from either side is up to `wide` instead; 0 if sums would not be exact
/// then.
int limit_beside_wide(std::int64_t terms);

/// The largest magnitude of an input whose sums have so many terms: of floats, integer_limit(); of
/// integers the largest that plain sums in i32 hold, at most 64 where they are not reals, and no
/// more than the type has.
int limit_of(Element element, std::int64_t terms, Values values);

/// A rows×columns matrix in a layout, not yet written.
HostMatrix unwritten(std::int64_t rows, std::int64_t columns, Layout layout, std::int64_t ld,
                     Element element = Element::fp32);

/// Fills operand number `operand` of a problem: a pure function of (seed, operand, row, column).
/// Reals of floats lie in (-1/2, 1/2), all others in [-limit, limit], or [1, limit] if unsigned;
/// none is ever zero. Of each `wide_every` integers along a row or a column, unless that is 0, one
/// is an odd number of 12 bits.
void fill(HostMatrix& matrix, std::uint64_t seed, int operand, Values values, int limit,
          std::int64_t wide_every = 0);
/// The same with values of the table's own; throws where the elements hold no such value.
void fill(HostMatrix& matrix, std::uint64_t seed, int operand, ValueOf value, const Shape& shape);
/// The same in one of its own.
HostMatrix make_input(std::uint64_t seed, int operand, std::int64_t rows, std::int64_t columns,
                      std::int64_t ld, Values values, int limit, Element element = Element::fp32,
                      std::int64_t wide_every = 0);

/// The leading dimension of a rows×columns matrix in a layout, at least `padding` more than it
/// needs.
std::int64_t leading_dimension(std::int64_t rows, std::int64_t columns, Layout layout,
                               std::int64_t padding, Element element = Element::fp32);

/// Writes a row-major matrix in another layout. Column-major, its columns are the rows of `result`.
void relayout(const HostMatrix& matrix, Layout layout, HostMatrix& result);
/// The same in one of its own.
HostMatrix relayout(const HostMatrix& matrix, Layout layout, std::int64_t ld);

}  // namespace recheck
