// SPDX-License-Identifier: Apache-2.0
#pragma once

// What read-only passes share: words are folded by exclusive or. No compiler can leave that out,
// and the result does not depend on the order, so it proves that every word was read.

#include <cstdint>

#include "fold.hpp"

namespace recheck::kernels {

inline constexpr int fold_block = 256;

__device__ inline unsigned fold(uint4 x) { return x.x ^ x.y ^ x.z ^ x.w; }

/// The fold of the words of words[0, count) that this lane of its group reads. Each group has one
/// contiguous part of the words, which suits memory. `load` fetches 16 bytes at a time, four loads
/// in flight; words that do not start on 16 bytes are read one by one.
template <typename Load>
__device__ unsigned fold_words(const unsigned* words, std::int64_t count, std::int64_t group,
                               std::int64_t groups, int lane, int lanes, Load load) {
  unsigned own = 0;
  const auto* vectors = reinterpret_cast<const uint4*>(words);
  const std::int64_t quads =
      reinterpret_cast<std::uintptr_t>(words) % sizeof(uint4) == 0 ? count / 4 : 0;
  const std::int64_t part = (quads + groups - 1) / groups;
  const std::int64_t end = quads < (group + 1) * part ? quads : (group + 1) * part;
  std::int64_t i = group * part + lane;
  for (; i + 3 * lanes < end; i += 4 * lanes) {
    const uint4 a = load(vectors + i), b = load(vectors + i + lanes),
                c = load(vectors + i + 2 * lanes), d = load(vectors + i + 3 * lanes);
    own ^= fold(a) ^ fold(b) ^ fold(c) ^ fold(d);
  }
  for (; i < end; i += lanes) own ^= fold(load(vectors + i));
  for (i = 4 * quads + group * lanes + lane; i < count; i += groups * lanes) own ^= words[i];
  return own;
}

/// Stores the block's fold in partials[blockIdx.x], and 0 in those that belong to no block.
__device__ inline void store_fold(unsigned own, unsigned* partials) {
  constexpr int warp = 32;
  for (int half = warp / 2; half > 0; half /= 2) own ^= __shfl_xor_sync(0xffffffffu, own, half);
  __shared__ unsigned folded[fold_block / warp];
  if (threadIdx.x % warp == 0) folded[threadIdx.x / warp] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < fold_block / warp; ++w) own ^= folded[w];
    partials[blockIdx.x] = own;
  }
  const unsigned thread = blockIdx.x * fold_block + threadIdx.x;
  for (unsigned i = gridDim.x + thread; i < fold_partials; i += gridDim.x * fold_block)
    partials[i] = 0;
}

/// The number of blocks: one per what its threads have in flight, so that few words start few
/// blocks, but at most 4096 until each block has 64 KiB. Parts that small share a front that walks
/// through memory.
inline unsigned fold_blocks(std::int64_t words) {
  constexpr std::int64_t in_flight = fold_block * 16, part = 16384, many = 4096;
  const std::int64_t least = words / in_flight < many ? words / in_flight : many;
  const std::int64_t wanted = words / part > least ? words / part : least;
  return static_cast<unsigned>(wanted < 1 ? 1 : wanted > fold_partials ? fold_partials : wanted);
}

}  // namespace recheck::kernels
