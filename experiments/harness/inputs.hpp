// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../../reference/matrix.hpp"
#include "strategy.hpp"

namespace recheck {

/// Small integers, of at most 64, make sums of products exact in fp32, so that a wrong index has no
/// tolerance to hide in; reals in (-1/2, 1/2) show rounding, and are what is timed. Where elements
/// are i32, the latter are integers too, as large as sums of them may be without an overflow.
enum class Values { integers, reals };

/// What the elements of an experiment's operands are. All have 32 bits and travel as float: an i32
/// is std::bit_cast to one.
enum class Element { fp32, i32 };

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

/// A matrix on the host, row-major unless relayout() has made it. Beyond each row and after the
/// last one stands NaN, so that whatever reads outside the matrix spoils its result.
struct HostMatrix {
  std::int64_t rows, columns, ld;
  Floats elements;  // storage(rows, ld)
  [[nodiscard]] reference::MatrixView view() const { return {rows, columns, elements.data(), ld}; }
};

/// Elements before an output and behind every matrix that belong to nobody.
inline constexpr std::int64_t guard = 256;

/// Elements of storage of a rows×ld matrix and the guard behind it.
constexpr std::int64_t storage(std::int64_t rows, std::int64_t ld) { return rows * ld + guard; }

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

/// The same of plain sums in i32: at most 64 for integers, as large as it can be for reals.
int i32_limit(std::int64_t terms, Values values);

/// A rows×columns matrix in a layout, not yet written.
HostMatrix unwritten(std::int64_t rows, std::int64_t columns, Layout layout, std::int64_t ld);

/// Fills operand number `operand` of a problem: a pure function of (seed, operand, row, column).
/// Reals lie in (-1/2, 1/2), integers and all i32 in [-limit, limit]; none is ever zero. Of each
/// `wide_every` integers along a row or a column, unless that is 0, one is an odd number of 12
/// bits.
void fill(HostMatrix& matrix, std::uint64_t seed, int operand, Values values, int limit,
          Element element = Element::fp32, std::int64_t wide_every = 0);
/// The same in one of its own.
HostMatrix make_input(std::uint64_t seed, int operand, std::int64_t rows, std::int64_t columns,
                      std::int64_t ld, Values values, int limit, Element element = Element::fp32,
                      std::int64_t wide_every = 0);

/// The leading dimension of a rows×columns matrix in a layout, at least `padding` more than it
/// needs.
std::int64_t leading_dimension(std::int64_t rows, std::int64_t columns, Layout layout,
                               std::int64_t padding);

/// Writes a row-major matrix in another layout. Column-major, its columns are the rows of `result`.
void relayout(const HostMatrix& matrix, Layout layout, HostMatrix& result);
/// The same in one of its own.
HostMatrix relayout(const HostMatrix& matrix, Layout layout, std::int64_t ld);

}  // namespace recheck
