// SPDX-License-Identifier: Apache-2.0
#pragma once

// The launches of the pre-pass for bf16 and TF32 (split_planes.cuh), which need no scales.

#include <cuda_bf16.h>

#include "../hopper.cuh"
#include "split_planes.cuh"

namespace recheck::kernels::matmul::split {

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
