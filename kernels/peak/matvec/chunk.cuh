// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the peak kernels share: a group of lanes takes four consecutive words of its row (or column)
// to a lane, as vectors if these start on 16 bytes and word by word otherwise.

#include <cstdint>

#include "../vectors.hpp"
#include "matvec.hpp"

namespace recheck::kernels::matvec {

inline constexpr int warp = 32;
inline constexpr unsigned all_lanes = 0xffffffffu;

/// 4·lanes consecutive floats of a row, four to a lane: neighbours as one vector, or `lanes` apart,
/// so that single words coalesce as well.
template <bool vectors, int lanes>
struct Chunk {
  static constexpr int floats = 4 * lanes;

  /// Where in the chunk a lane's k-th float lies.
  __device__ static int at(int lane, int k) { return vectors ? 4 * lane + k : lane + k * lanes; }

  /// The lane's floats of the chunk at p, by `load`.
  template <typename Load>
  __device__ static float4 read(const float* p, int lane, Load load) {
    if constexpr (vectors) return load(reinterpret_cast<const float4*>(p) + lane);
    return {load(p + at(lane, 0)), load(p + at(lane, 1)), load(p + at(lane, 2)),
            load(p + at(lane, 3))};
  }

  /// As load, but for a chunk that has only `count` floats; 0 for the others.
  template <typename Load>
  __device__ static float4 read(const float* p, int lane, std::int64_t count, Load load) {
    if (at(lane, 3) < count) return read(p, lane, load);
    const auto one = [&](int k) { return at(lane, k) < count ? load(p + at(lane, k)) : 0.0f; };
    return {one(0), one(1), one(2), one(3)};
  }
};

/// An ordinary load that may use the read-only path.
struct Cached {
  template <typename T>
  __device__ T operator()(const T* p) const {
    return __ldg(p);
  }
};

/// A load of data that is used once: it leaves level 1 to data that is reused.
struct Streaming {
  __device__ float operator()(const float* p) const {
    float x;
    asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(x) : "l"(p));
    return x;
  }
  __device__ float4 operator()(const float4* p) const {
    float4 x;
    asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
        : "l"(p));
    return x;
  }
};

__device__ inline float dot(float4 x, float4 y, float sum) {
  sum += x.x * y.x;
  sum += x.y * y.y;
  sum += x.z * y.z;
  return sum + x.w * y.w;
}

/// Words shift to shift + 3 of two neighbouring vectors.
template <int shift>
__device__ float4 pick(float4 x, float4 y) {
  if constexpr (shift == 0) return x;
  if constexpr (shift == 1) return {x.y, x.z, x.w, y.x};
  if constexpr (shift == 2) return {x.z, x.w, y.x, y.y};
  return {x.w, y.x, y.y, y.z};
}

/// Adds to sum the products of vectors i, i + lanes, ... below `end` of a and the words that begin
/// `shift` words into v.
template <int unroll, int lanes, int shift>
__device__ float dot_shifted(const float4* a, const float4* v, int i, int end, float sum) {
  const auto step = [&](auto there) {
    float4 x[unroll], y[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u)
      x[u] = there(i + u * lanes) ? Streaming()(a + i + u * lanes) : float4{};
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const float4* at = v + i + u * lanes;
      y[u] = float4{};
      if (there(i + u * lanes)) y[u] = pick<shift>(__ldg(at), __ldg(at + (shift > 0)));
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) sum = dot(x[u], y[u], sum);
  };
  for (; i < end - (unroll - 1) * lanes; i += unroll * lanes) step([](int) { return true; });
  if (i < end) step([&](int at) { return at < end; });
  return sum;
}

/// A lane's part of a row times v, wherever in a vector the two start: the row is read by its own
/// vectors and v by those that overlap with them. The outermost vectors may be incomplete and are
/// taken word by word.
template <int unroll, int lanes>
__device__ float dot_unaligned(const float* a, const float* v, int columns, int lane) {
  const auto word = [](const float* p) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) / sizeof(float) % 4);
  };
  const int before = (4 - word(a)) % 4;
  const int vectors = (columns - before) / 4;  // rounded towards 0
  const bool any = vectors > 2;
  const int begin = any ? before + 4 : columns, end = any ? before + 4 * (vectors - 1) : columns;
  // at most 14 words; loaded first and added last, so that nothing waits for them
  static_assert(lanes >= 16);
  const bool outer = lane < begin + columns - end;
  const int at = lane < begin ? lane : lane - begin + end;
  const float x = outer ? __ldg(a + at) : 0, y = outer ? __ldg(v + at) : 0;
  float sum = 0;
  if (any) {
    const auto* body = reinterpret_cast<const float4*>(a + begin);
    const int shift = word(v + begin), count = vectors - 2;
    const auto* other = reinterpret_cast<const float4*>(v + begin - shift);
    switch (shift) {
      case 0:
        sum = dot_shifted<unroll, lanes, 0>(body, other, lane, count, sum);
        break;
      case 1:
        sum = dot_shifted<unroll, lanes, 1>(body, other, lane, count, sum);
        break;
      case 2:
        sum = dot_shifted<unroll, lanes, 2>(body, other, lane, count, sum);
        break;
      default:
        sum = dot_shifted<unroll, lanes, 3>(body, other, lane, count, sum);
    }
  }
  return sum + x * y;
}

/// Adds up `count` sums over the `lanes` lanes of each group, all at once: at each step a lane
/// hands half of its sums to its partner and takes the other half. They need count - 1 shuffles
/// instead of count times log2(lanes). Returns the index of the sum that is then complete in
/// sums[0]; if there are more sums than lanes, the next ones follow it.
template <int lanes, int count>
__device__ int reduce_all(float (&sums)[count], int lane) {
  static_assert((lanes & (lanes - 1)) == 0 && (count & (count - 1)) == 0, "both are halved");
  int first = 0;
#pragma unroll
  for (int half = lanes / 2, left = count; half > 0; half /= 2) {
    if (left > 1) {
      left /= 2;
      const bool upper = (lane & half) != 0;
      if (upper) first += left;
#pragma unroll
      for (int i = 0; i < left; ++i) {
        const float own = upper ? sums[left + i] : sums[i];
        const float other = upper ? sums[i] : sums[left + i];
        sums[i] = own + __shfl_xor_sync(all_lanes, other, half);
      }
    } else {
      sums[0] += __shfl_xor_sync(all_lanes, sums[0], half);
    }
  }
  return first;
}

/// Whether every stored row (or column) starts on 16 bytes.
inline bool starts_on_vectors(const MatvecArgs& p) {
  return on_vectors(p.a, p.pitch / static_cast<std::int64_t>(sizeof(float)));
}

/// Whether the vector v starts on 16 bytes as well.
inline bool all_on_vectors(const MatvecArgs& p) {
  return starts_on_vectors(p) && on_vectors(p.v, 0);
}

}  // namespace recheck::kernels::matvec
