// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../table/matrix.hpp"

namespace recheck {

// The values of a problem's inputs: integers for exact proofs, and reals.

/// A second seed for the integers of proofs, random per process, so that no table of results can be
/// prepared for them. Failure messages print it; setting it before the first inputs are made
/// (--nonce) repeats them.
std::uint64_t& nonce();

/// The largest b <= 64 so that sums of `terms` products of integers in [-b, b] are exact in fp32.
int integer_limit(std::int64_t terms);

/// An odd 12-bit integer: TF32 and fp16 keep 11 bits, bf16 fewer, so reduced precision rounds it.
inline constexpr int wide = 2847;

/// integer_limit() when one factor per row and column may be as large as `wide`; 0 if sums would
/// not be exact.
int limit_with_wide_factor(std::int64_t terms);

/// The largest magnitude of an input whose sums have this many terms. Floats: integer_limit().
/// Integers: the largest with plain sums in i32, but no more than the type holds, and at most 64
/// unless they are reals.
int limit_of(Element element, std::int64_t terms, Values values);

/// A rows×columns matrix in a layout, with indeterminate elements.
HostMatrix unwritten(std::int64_t rows, std::int64_t columns, Layout layout, std::int64_t ld,
                     Element element = Element::fp32);

/// Fills a problem's operand number `operand`: a pure function of (seed, operand, row, column).
/// Floats that are reals lie in (-1/2, 1/2), all others in [-limit, limit], or in [1, limit] if
/// unsigned; none is zero. One in `wide_every` integers along a row or column is an odd 12-bit
/// number; 0: none.
void fill(HostMatrix& matrix, std::uint64_t seed, int operand, Values values, int limit,
          std::int64_t wide_every = 0);
/// Fills with a table's own values; throws if the element type cannot hold one of them.
void fill(HostMatrix& matrix, std::uint64_t seed, int operand, ValueOf value, const Shape& shape);
/// Creates and fills a matrix.
HostMatrix make_input(std::uint64_t seed, int operand, std::int64_t rows, std::int64_t columns,
                      std::int64_t ld, Values values, int limit, Element element = Element::fp32,
                      std::int64_t wide_every = 0);

/// Writes a row-major matrix in another layout. If column-major, `result` has its columns as rows.
void relayout(const HostMatrix& matrix, Layout layout, HostMatrix& result);
/// Creates the matrix in another layout.
HostMatrix relayout(const HostMatrix& matrix, Layout layout, std::int64_t ld);

}  // namespace recheck
