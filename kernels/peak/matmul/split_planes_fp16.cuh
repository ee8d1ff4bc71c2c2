// SPDX-License-Identifier: Apache-2.0
#pragma once

// The launches of the pre-pass for fp16 (split_planes.cuh): scales by row of A and by column of B.

#include "split_planes.cuh"
#include "split_schemes.cuh"

namespace recheck::kernels::matmul::split {

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
  maximum = warp_max(maximum);
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

}  // namespace recheck::kernels::matmul::split
