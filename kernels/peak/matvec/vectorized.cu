// SPDX-License-Identifier: Apache-2.0
//
// One warp per row with 16 bytes to a load and several loads under way before the first is used. To
// cover a load's latency at the memory's rate, each multiprocessor needs tens of KiB under way; a
// loop that waits for each word never has that much. Source: FastGEMV (vectors), CUB (loads in
// flight).

#include "chunk.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

template <int block, int unroll, bool vectors>
__global__ void __launch_bounds__(block) vectorized_kernel(MatvecArgs p) {
  using Part = Chunk<true, warp>;
  constexpr int step = unroll * Part::floats;
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const std::int64_t row = (blockIdx.x * std::int64_t{block} + threadIdx.x) / warp;
  if (row >= p.rows) return;                   // the whole warp
  const float* __restrict__ a = line(p, row);  // (columns)
  const float* __restrict__ v = p.v;
  float sum = 0;
  if constexpr (vectors) {
    float4 x[unroll], y[unroll];
    int j = 0;
    for (; j <= p.columns - step; j += step) {
#pragma unroll
      for (int u = 0; u < unroll; ++u) x[u] = Part::read(a + j + u * Part::floats, lane, Cached());
#pragma unroll
      for (int u = 0; u < unroll; ++u) y[u] = Part::read(v + j + u * Part::floats, lane, Cached());
#pragma unroll
      for (int u = 0; u < unroll; ++u) sum = dot(x[u], y[u], sum);
    }
    if (j < p.columns) {  // all loads of the remainder are under way as well
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const int at = j + u * Part::floats;
        x[u] = Part::read(a + at, lane, p.columns - at, Cached());
        y[u] = Part::read(v + at, lane, p.columns - at, Cached());
      }
#pragma unroll
      for (int u = 0; u < unroll; ++u) sum = dot(x[u], y[u], sum);
    }
  } else {
    sum = dot_unaligned<unroll, warp>(a, v, p.columns, lane);
  }
  for (int half = warp / 2; half > 0; half /= 2) sum += __shfl_down_sync(all_lanes, sum, half);
  if (lane == 0) p.r[row] = sum;
}

}  // namespace

template <int block, int unroll>
void vectorized(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  const int blocks = (args.rows - 1) / (block / warp) + 1;
  if (all_on_vectors(args))
    vectorized_kernel<block, unroll, true><<<blocks, block, 0, stream>>>(args);
  else
    vectorized_kernel<block, unroll, false><<<blocks, block, 0, stream>>>(args);
}

template void vectorized<128, 16>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
