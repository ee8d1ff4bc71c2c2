// SPDX-License-Identifier: Apache-2.0
#pragma once

// What S3's listings share here: int sizes and a pitch in elements. For the transposed matrix S3's
// rowSize counts the stored rows, which are the columns of A, and its columnSize the elements of r.
// The arguments are passed in that order.

#include <stdexcept>
#include <string>
#include <type_traits>

#include "../walk.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {

/// A parameter as most of the listings have it, or with __restrict__.
template <bool is_restrict>
using In = std::conditional_t<is_restrict, const float* __restrict__, const float*>;
template <bool is_restrict>
using Out = std::conditional_t<is_restrict, float* __restrict__, float*>;

/// The pitch as the listings index with it. cudaMallocPitch returns bytes.
inline int pitch_items(const MatvecArgs& p) {
  return static_cast<int>(p.pitch / static_cast<std::int64_t>(sizeof(float)));
}

/// As pitch_items, but throws std::length_error if indices with `bits` value bits cannot count
/// `lines` stored lines.
inline int counted_pitch(const MatvecArgs& p, std::int64_t lines, int bits) {
  constexpr std::int64_t item = sizeof(float), most = 0x7fffffff;
  const std::int64_t items = p.pitch / item;
  if (items > most || lines * items > std::int64_t{1} << bits)
    throw std::length_error("has indices of 32 bits, which do not count " + std::to_string(lines) +
                            " rows or columns at a pitch of " + std::to_string(p.pitch) + " B");
  return pitch_items(p);
}

/// The number of blocks; the last may have idle threads. S3 shows no host code.
inline unsigned blocks_for(std::int64_t threads, int block) {
  return static_cast<unsigned>((threads - 1) / block + 1);
}

}  // namespace recheck::kernels::matvec
