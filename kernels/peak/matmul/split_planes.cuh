// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pre-pass of the split products: fp32 becomes a stack of planes of a narrower type whose sum
// is the number again, x = x₀ + x₁ (+ x₂). Each plane is the remainder of the previous ones,
// rounded to nearest. fp16 has only five exponent bits, so rows of A and columns of B are first
// scaled by powers of two that bring their largest element into [2^14, 2^15), and the second plane
// is scaled by another 2^12; both are undone exactly at the end. bf16 and TF32 have fp32's own
// range. Source: Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores while
// surpassing the FP32 theoretical peak performance", IJHPCA 2022.
//
// The guard. The pre-pass counts the elements that the planes cannot hold. If there are too many,
// it raises the guard, on the device, and the IEEE kernel launched afterwards computes the product
// (split_fallback.cu). For fp16:
// - A row or column whose maximum is Inf, NaN or outside 2^±60 raises it at once.
// - An element is lost if it is below 2^-14 after scaling, where fp16 becomes subnormal: that is
//   2^-28 to 2^-29 of the maximum. The planes hold it to an absolute 2^-37, with a second plane of
//   up to 2^-25; they hold all others to a relative 2^-23, with a second plane of up to 2^-11.
//   Without lost elements each product is right to 2^-21: 2·2^-23, and 2^-22 for low·low.
// - A few lost elements are harmless next to larger terms, and counting can prove that larger terms
//   exist. Call an element small if it is below 2^4. If a row of A and a column of B together have
//   fewer small elements than k, in one of their k terms neither factor is small, so (|A||B|)ij is
//   at least 2^8. The other factor of a lost element is below 2^15 and its second plane at most
//   2^4, so L lost elements cost at most L·(2^-37·2^15 + 2^-25·2^4). For L = 64 this is 3·2^-24
//   of 2^8. More than 64 lost elements raise the guard, and so does one where this proof fails.
// For bf16 and TF32 a nonzero element outside [2^-56, 2^56) raises it, as its last plane or its
// products could leave the range. split_bound.hpp has the consequences for the result.

#include <cuda_fp16.h>

#include <cstdint>

#include "../vectors.hpp"
#include "matmul.hpp"

namespace recheck::kernels::matmul::split {

/// The pre-pass's findings, in the workspace. Cleared before each product.
struct Guard {
  unsigned bad;      // not 0: something that no plane can hold
  unsigned lost;     // elements, modulo 2^32; if there are more than most_lost, `bad` is set
  unsigned small_a;  // the most small elements of a row of A
  unsigned small_b;  // the most small elements of a column of B within one thread's rows
  unsigned raised;   // the verdict, for the fallback
  unsigned begun;    // legs of all blocks (Pace)
};

constexpr unsigned most_lost = 64;
constexpr float least_normal = 0x1p-14f;           // of fp16
constexpr int scan_columns = 128, scan_rows = 64;  // a block's part of B
constexpr int scan_warps = 8, scan_threads = 32 * scan_warps;
constexpr int scan_depth = scan_rows / scan_warps;  // rows of a thread

__device__ inline bool raised(const Guard& guard, int k) {
  if (guard.bad) return true;
  if (!guard.lost) return false;
  // a thread saw every eighth row of its block's, so this multiplies its largest count by the
  // number of threads
  const unsigned threads = (k + scan_rows - 1) / scan_rows * scan_warps;
  return guard.lost > most_lost ||
         guard.small_a + guard.small_b * threads >= static_cast<unsigned>(k);
}

/// Maxima are kept as the bits of |x|, which sort like the values, with NaN largest.
__device__ inline unsigned magnitude(float x) { return __float_as_uint(x) & 0x7fffffffu; }

/// The maximum, and the sum, over a warp, in all its lanes.
__device__ inline unsigned warp_max(unsigned x) {
  for (int step = 16; step; step /= 2) x = max(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}
__device__ inline unsigned warp_sum(unsigned x) {
  for (int step = 16; step; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
  return x;
}
/// 2^(14 - below - e) and its inverse, for a maximum in [2^e, 2^(e + 1)); 1 and `of_zeros` for a
/// maximum of 0.
__device__ inline float scale_up(unsigned maximum, int below = 0) {
  return maximum ? __uint_as_float((268 - below - (maximum >> 23)) << 23) : 1.0f;
}
__device__ inline float scale_down(unsigned maximum, int below = 0, float of_zeros = 1.0f) {
  return maximum ? __uint_as_float(((maximum >> 23) - 14 + below) << 23) : of_zeros;
}
/// |exponent| <= 60, or 0.
__device__ inline bool scalable(unsigned maximum) {
  const unsigned exponent = maximum >> 23;
  return maximum == 0 || (exponent >= 127 - 60 && exponent <= 127 + 60);
}

/// Elements 4i … 4i + 3 of a row of `count`, 0 beyond its end.
template <bool aligned>
__device__ float4 load4(const float* row, int i, int count) {
  const int j = 4 * i;
  if (j + 4 <= count) {
    if constexpr (aligned) return __ldg(reinterpret_cast<const float4*>(row) + i);
    return {__ldg(row + j), __ldg(row + j + 1), __ldg(row + j + 2), __ldg(row + j + 3)};
  }
  return {j < count ? row[j] : 0.0f, j + 1 < count ? row[j + 1] : 0.0f,
          j + 2 < count ? row[j + 2] : 0.0f, 0.0f};
}

__device__ inline std::uint64_t pack4(const unsigned short (&h)[4]) {
  return static_cast<std::uint64_t>(h[0]) | static_cast<std::uint64_t>(h[1]) << 16 |
         static_cast<std::uint64_t>(h[2]) << 32 | static_cast<std::uint64_t>(h[3]) << 48;
}

/// Four scaled elements into the two fp16 planes.
__device__ inline void store_fp16(float4 x, float4 scale, unsigned short* high,
                                  std::int64_t plane) {
  const float scaled[4] = {x.x * scale.x, x.y * scale.y, x.z * scale.z, x.w * scale.w};
  unsigned short h[4], l[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const __half first = __float2half_rn(scaled[i]);
    h[i] = __half_as_ushort(first);
    // the remainder is exact in fp32, and 2^12 brings it up to the first plane's range
    l[i] = __half_as_ushort(__float2half_rn((scaled[i] - __half2float(first)) * 4096.0f));
  }
  *reinterpret_cast<std::uint64_t*>(high) = pack4(h);
  *reinterpret_cast<std::uint64_t*>(high + plane) = pack4(l);
}

/// Where an operand's planes are: `ld` elements from row to row, `plane` from plane to plane.
struct Planes {
  void* base;
  std::int64_t ld, plane;
};

/// A thread's quad of B in each of its rows: all loads are in flight before the first is used.
template <bool aligned>
__device__ void load_panel(const MatmulArgs& p, int row, int column, int lane,
                           float4 (&x)[scan_depth]) {
#pragma unroll
  for (int i = 0; i < scan_depth; ++i) {
    const int r = row + scan_warps * i;
    x[i] = r < p.k ? load4<aligned>(p.b + r * p.ldb + column, lane, p.n - column) : float4{};
  }
}

/// Maxima of the columns of one panel of B, scan_rows×scan_columns, into column_max.
template <bool aligned>
__device__ __forceinline__ void scan_panel(const MatmulArgs& p, int panel, unsigned* column_max,
                                           unsigned (&shared)[scan_warps][scan_columns]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int across = (p.n + scan_columns - 1) / scan_columns;
  const int column = panel % across * scan_columns, top = panel / across * scan_rows;
  unsigned most[4] = {};
  float4 x[scan_depth];
  load_panel<aligned>(p, top + warp, column, lane, x);
#pragma unroll
  for (int i = 0; i < scan_depth; ++i) {
    most[0] = max(most[0], magnitude(x[i].x));
    most[1] = max(most[1], magnitude(x[i].y));
    most[2] = max(most[2], magnitude(x[i].z));
    most[3] = max(most[3], magnitude(x[i].w));
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) shared[warp][4 * lane + j] = most[j];
  __syncthreads();
  if (column + threadIdx.x >= p.n || threadIdx.x >= scan_columns) return;
  unsigned maximum = 0;
#pragma unroll
  for (int w = 0; w < scan_warps; ++w) maximum = max(maximum, shared[w][threadIdx.x]);
  atomicMax(&column_max[column + threadIdx.x], maximum);  // of integers: any order will do
}

}  // namespace recheck::kernels::matmul::split
