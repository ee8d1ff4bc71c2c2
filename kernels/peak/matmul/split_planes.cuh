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

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "../hopper.cuh"
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

/// Adds a block's lost elements to the total. The block that passes the limit raises the guard at
/// once, as the count wraps around at 2^32.
__device__ inline void add_lost(Guard& guard, unsigned lost) {
  if (lost && atomicAdd(&guard.lost, lost) + lost > most_lost) guard.bad = 1;
}

/// Adds |x| to the counts, whose thresholds follow from the scale.
__device__ inline void count_small(float x, float scale, unsigned& lost, unsigned& small) {
  const float scaled = fabsf(x) * scale;
  small += scaled < 16.0f;
  lost += scaled < least_normal && x != 0;
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

/// Whether a kernel has nothing to do: a conditional kernel works only if *only_if is not 0. The
/// word is final before the first of them starts.
template <bool conditional>
__device__ bool skipped([[maybe_unused]] const unsigned* only_if) {
  if constexpr (conditional) {
    hopper::griddepcontrol_wait();  // later kernels rely on all previous work
    return *only_if == 0;
  } else {
    return false;
  }
}

/// First launch: a block for each row of A scales and splits it in one pass; the other blocks find
/// the column maxima of B, a panel of scan_rows×scan_columns each.
template <bool aligned, bool conditional>
__global__ void __launch_bounds__(scan_threads)
    split_rows_scan_columns(MatmulArgs p, Planes planes, unsigned* row_max, unsigned* column_max,
                            Guard* guard, const unsigned* only_if) {
  __shared__ unsigned shared[scan_warps][scan_columns];
  hopper::griddepcontrol_launch_dependents();
  if (skipped<conditional>(only_if)) return;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (blockIdx.x >= static_cast<unsigned>(p.m)) {
    scan_panel<aligned>(p, blockIdx.x - p.m, column_max, shared);
    return;
  }

  const float* row = p.a + blockIdx.x * p.lda;
  const int quads = (p.k + 3) / 4;
  constexpr int held = 8;  // float4 per thread; the rest of a longer row is read twice
  float4 x[held];
  unsigned maximum = 0;
#pragma unroll
  for (int i = 0; i < held; ++i) {
    const int q = threadIdx.x + scan_threads * i;
    x[i] = q < quads ? load4<aligned>(row, q, p.k) : float4{};
  }
#pragma unroll
  for (int i = 0; i < held; ++i)
    maximum = max(max(maximum, max(magnitude(x[i].x), magnitude(x[i].y))),
                  max(magnitude(x[i].z), magnitude(x[i].w)));
  for (int q = threadIdx.x + scan_threads * held; q < quads; q += scan_threads) {
    const float4 y = load4<aligned>(row, q, p.k);
    maximum =
        max(max(maximum, max(magnitude(y.x), magnitude(y.y))), max(magnitude(y.z), magnitude(y.w)));
  }
  for (int step = 16; step; step /= 2)
    maximum = max(maximum, __shfl_xor_sync(0xffffffffu, maximum, step));
  if (lane == 0) shared[0][warp] = maximum;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < scan_warps; ++w) maximum = max(maximum, shared[0][w]);

  const float scale = scale_up(maximum);
  auto* to = static_cast<unsigned short*>(planes.base) + blockIdx.x * planes.ld;
  unsigned lost = 0, small = 0;
  const auto split = [&](float4 y, int q) {
    store_fp16(y, {scale, scale, scale, scale}, to + 4 * q, planes.plane);
    count_small(y.x, scale, lost, small);
    count_small(y.y, scale, lost, small);
    count_small(y.z, scale, lost, small);
    count_small(y.w, scale, lost, small);
  };
#pragma unroll
  for (int i = 0; i < held; ++i) {
    const int q = threadIdx.x + scan_threads * i;
    if (q < quads) split(x[i], q);
  }
  for (int q = threadIdx.x + scan_threads * held; q < quads; q += scan_threads)
    split(load4<aligned>(row, q, p.k), q);
  for (int step = 16; step; step /= 2) {
    lost += __shfl_xor_sync(0xffffffffu, lost, step);
    small += __shfl_xor_sync(0xffffffffu, small, step);
  }
  if (lane == 0) shared[1][warp] = lost, shared[2][warp] = small;
  __syncthreads();
  if (threadIdx.x) return;
  for (int w = 1; w < scan_warps; ++w) lost += shared[1][w], small += shared[2][w];
  small -= 4 * quads - p.k;  // zeros that stand for elements beyond the row's end
  row_max[blockIdx.x] = maximum;
  add_lost(*guard, lost);
  // most blocks do not raise the maximum, and then need no atomic
  if (small > *static_cast<volatile unsigned*>(&guard->small_a)) atomicMax(&guard->small_a, small);
  if (!scalable(maximum)) guard->bad = 1;
}

/// Second launch: scales and splits B by its column maxima, the same panels.
template <bool aligned, bool conditional>
__global__ void __launch_bounds__(scan_threads)
    split_columns(MatmulArgs p, Planes planes, const unsigned* column_max, Guard* guard,
                  const unsigned* only_if) {
  __shared__ unsigned shared[2];
  if (threadIdx.x < 2) shared[threadIdx.x] = 0;
  __syncthreads();
  hopper::griddepcontrol_launch_dependents();
  if (skipped<conditional>(only_if)) return;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int across = (p.n + scan_columns - 1) / scan_columns;
  const int column = blockIdx.x % across * scan_columns, top = blockIdx.x / across * scan_rows;
  const int j = column + 4 * lane;
  float4 x[scan_depth];
  load_panel<aligned>(p, top + warp, column, lane, x);  // B does not depend on the previous kernel
  hopper::griddepcontrol_wait();
  unsigned maximum[4];
  bool good = true;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    maximum[i] = j + i < p.n ? column_max[j + i] : 0;
    good = good && scalable(maximum[i]);
  }
  if (!good && top == 0) guard->bad = 1;
  const float4 scale = {scale_up(maximum[0]), scale_up(maximum[1]), scale_up(maximum[2]),
                        scale_up(maximum[3])};
  unsigned lost = 0, small[4] = {};
#pragma unroll
  for (int i = 0; i < scan_depth; ++i) {
    const int row = top + warp + scan_warps * i;
    if (row >= p.k || j >= p.n) continue;
    store_fp16(x[i], scale, static_cast<unsigned short*>(planes.base) + row * planes.ld + j,
               planes.plane);
    count_small(x[i].x, scale.x, lost, small[0]);
    count_small(x[i].y, scale.y, lost, small[1]);
    count_small(x[i].z, scale.z, lost, small[2]);
    count_small(x[i].w, scale.w, lost, small[3]);
  }
  // some of the last four columns may not exist: the zeros in their place count as no small
  // elements
#pragma unroll
  for (int i = 1; i < 4; ++i)
    if (j + i >= p.n) small[i] = 0;
  const unsigned most = max(max(small[0], small[1]), max(small[2], small[3]));
  if (lost) atomicAdd(&shared[0], lost);
  if (most > *static_cast<volatile unsigned*>(&shared[1])) atomicMax(&shared[1], most);
  __syncthreads();
  if (threadIdx.x) return;
  add_lost(*guard, shared[0]);
  if (shared[1] > *static_cast<volatile unsigned*>(&guard->small_b))
    atomicMax(&guard->small_b, shared[1]);
}

/// Whether x is Inf, NaN, or nonzero and outside [2^-56, 2^56).
__device__ inline bool out_of_range(float x) {
  const unsigned bits = magnitude(x), exponent = bits >> 23;
  return bits && (exponent < 127 - 56 || exponent >= 127 + 56);
}

/// Splits four elements into three bf16 planes. Each has eight bits and a sign, at least 24 bits in
/// all.
__device__ inline void store_bf16(float4 x, unsigned short* first, std::int64_t plane) {
  const float values[4] = {x.x, x.y, x.z, x.w};
  unsigned short parts[3][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float rest = values[i];
#pragma unroll
    for (int t = 0; t < 3; ++t) {
      const __nv_bfloat16 part = __float2bfloat16_rn(rest);
      parts[t][i] = __bfloat16_as_ushort(part);
      rest -= __bfloat162float(part);  // exact
    }
  }
#pragma unroll
  for (int t = 0; t < 3; ++t)
    *reinterpret_cast<std::uint64_t*>(first + t * plane) = pack4(parts[t]);
}

/// Rounds to the nearest TF32: 11 bits of significand in an fp32 word.
__device__ inline float round_tf32([[maybe_unused]] float x) {
  unsigned bits = 0;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#endif
  return __uint_as_float(bits);
}

/// A block for each row of A, then for each row of B if its planes are made here: element by
/// element.
template <bool bf16, bool aligned>
__global__ void __launch_bounds__(scan_threads)
    split_elements(MatmulArgs p, Planes a_planes, Planes b_planes, Guard* guard) {
  hopper::griddepcontrol_launch_dependents();
  const bool is_a = blockIdx.x < static_cast<unsigned>(p.m);
  const std::int64_t i = is_a ? blockIdx.x : blockIdx.x - p.m;
  const float* row = is_a ? p.a + i * p.lda : p.b + i * p.ldb;
  const Planes to = is_a ? a_planes : b_planes;
  const int count = is_a ? p.k : p.n, quads = (count + 3) / 4;
  bool bad = false;
#pragma unroll 4
  for (int q = threadIdx.x; q < quads; q += scan_threads) {
    const float4 x = load4<aligned>(row, q, count);
    bad |= out_of_range(x.x) | out_of_range(x.y) | out_of_range(x.z) | out_of_range(x.w);
    if constexpr (bf16) {
      store_bf16(x, static_cast<unsigned short*>(to.base) + i * to.ld + 4 * q, to.plane);
    } else {
      const float4 high = {round_tf32(x.x), round_tf32(x.y), round_tf32(x.z), round_tf32(x.w)};
      float* address = static_cast<float*>(to.base) + i * to.ld + 4 * q;
      *reinterpret_cast<float4*>(address) = high;
      *reinterpret_cast<float4*>(address + to.plane) = {
          round_tf32(x.x - high.x), round_tf32(x.y - high.y), round_tf32(x.z - high.z),
          round_tf32(x.w - high.w)};
    }
  }
  if (bad) guard->bad = 1;
}

/// B into two TF32 planes of its transpose, 32×32 at a time: wgmma takes TF32 only along k.
constexpr int flip_tile = 32;
template <int flip_rows>
__global__ void __launch_bounds__(flip_tile* flip_rows)
    split_transposed(MatmulArgs p, Planes to, Guard* guard) {
  __shared__ float tile[flip_tile][flip_tile + 1];
  hopper::griddepcontrol_launch_dependents();
  hopper::griddepcontrol_wait();
  const int across = (p.n + flip_tile - 1) / flip_tile;
  const int column = blockIdx.x % across * flip_tile, top = blockIdx.x / across * flip_tile;
  const int x = threadIdx.x % flip_tile, y = threadIdx.x / flip_tile;
  bool bad = false;
#pragma unroll
  for (int i = y; i < flip_tile; i += flip_rows)
    if (top + i < p.k && column + x < p.n) {
      tile[i][x] = p.b[(top + i) * p.ldb + column + x];
      bad |= out_of_range(tile[i][x]);
    }
  __syncthreads();
#pragma unroll
  for (int i = y; i < flip_tile; i += flip_rows)
    if (column + i < p.n && top + x < p.k) {
      const float value = tile[x][i], high = round_tf32(value);
      float* address = static_cast<float*>(to.base) + (column + i) * to.ld + top + x;
      address[0] = high;
      address[to.plane] = round_tf32(value - high);
    }
  if (bad) guard->bad = 1;
}

}  // namespace recheck::kernels::matmul::split
