// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the two rungs by columns share: a block's sums over some columns of a tile of rows.

#include "chunk.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {

/// Neighbouring lanes own neighbouring rows, `width` to a lane, and groups of `lanes` lanes take
/// columns in turn, in all of the `blocks` blocks that share the tile, with `unroll` of them under
/// way: so all blocks walk through the columns together. Leaves the sums of rows first to first +
/// width·lanes in tile, added in the order of the block's groups, by the
/// threads that have these indices. To be called by the whole block; barriers behind it are the
/// caller's.
template <int block, int lanes, int width, int unroll, bool vectors>
__device__ void column_tile(const MatvecArgs& p, std::int64_t first, int index, int blocks,
                            float (&tile)[width * lanes]) {
  constexpr int rows = width * lanes, own_groups = block / lanes;
  constexpr int inner = lanes < warp ? warp / lanes : 1;  // groups within a warp
  constexpr int outer = own_groups / inner;
  __shared__ float by_group[outer][rows];
  const int tid = static_cast<int>(threadIdx.x), lane = tid % lanes, group = tid / lanes;
  const int apart = blocks * own_groups;
  const float* __restrict__ v = p.v;
  float sums[width] = {};
  const auto run = [&](int columns, auto read) {
    int j = index * own_groups + group;
    const auto step = [&](auto there) {
      float x[unroll][width], y[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const int column = j + u * apart;
        if (there(column)) {
          read(line(p, column), x[u]);
        } else {
#pragma unroll
          for (int k = 0; k < width; ++k) x[u][k] = 0;
        }
      }
#pragma unroll
      for (int u = 0; u < unroll; ++u) y[u] = there(j + u * apart) ? __ldg(v + j + u * apart) : 0;
#pragma unroll
      for (int u = 0; u < unroll; ++u)
#pragma unroll
        for (int k = 0; k < width; ++k) sums[k] += x[u][k] * y[u];
    };
    for (; j < columns - (unroll - 1) * apart; j += unroll * apart) step([](int) { return true; });
    if (j < columns) step([&](int column) { return column < columns; });
  };
  const auto there = static_cast<int>(min(p.rows - first, std::int64_t{rows}));
  // where a lane's rows lie: as a vector, or `lanes` apart so that words coalesce as well
  const auto row = [&](int k) { return vectors ? width * lane + k : lane + k * lanes; };
  // a row too many reads another that is there: no load waits for a test
  if constexpr (vectors) {
    static_assert(width == 4);
    // a vector may reach beyond the last row: into the gap before the next column, if there is one
    const int columns = there < rows && p.columns > 0 ? p.columns - 1 : p.columns;
    const int own = min(lane, (there - 1) / width);
    run(columns, [&](const float* column, float(&x)[width]) {
      const float4 four = Streaming()(reinterpret_cast<const float4*>(column + first) + own);
      x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
    });
    if (index == 0 && group == 0)
      for (int j = columns; j < p.columns; ++j)
#pragma unroll
        for (int k = 0; k < width; ++k)
          if (row(k) < there) sums[k] += line(p, j)[first + row(k)] * v[j];
  } else {
    int at[width];
#pragma unroll
    for (int k = 0; k < width; ++k) at[k] = min(row(k), there - 1);
    run(p.columns, [&](const float* column, float(&x)[width]) {
#pragma unroll
      for (int k = 0; k < width; ++k) x[k] = Streaming()(column + first + at[k]);
    });
  }
#pragma unroll
  for (int half = warp / 2; half >= lanes; half /= 2)
#pragma unroll
    for (int k = 0; k < width; ++k) sums[k] += __shfl_xor_sync(all_lanes, sums[k], half);
  if (group % inner == 0)
#pragma unroll
    for (int k = 0; k < width; ++k) by_group[group / inner][row(k)] = sums[k];
  __syncthreads();
  for (int i = tid; i < rows; i += block) {
    float sum = 0;
#pragma unroll
    for (int g = 0; g < outer; ++g) sum += by_group[g][i];
    tile[i] = sum;
  }
}

}  // namespace recheck::kernels::matvec
