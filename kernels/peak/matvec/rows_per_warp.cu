// SPDX-License-Identifier: Apache-2.0
//
// Several rows to a warp: each piece of the vector that is loaded serves all of them, their loads
// are independent, and rows shorter than a warp share its lanes. Reads of the matrix bypass level
// 1, which is left to the vector. Source: SGLang's Hopper GEMV (rows, hints); the reduction of all
// rows at once is the butterfly transposition of a warp.

#include "chunk.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

/// `lanes` lanes to a row, and `rows` rows to each such group.
template <int block, int rows, int unroll, int lanes, bool vectors>
__global__ void __launch_bounds__(block) rows_per_warp_kernel(MatvecArgs p) {
  using Part = Chunk<vectors, lanes>;
  constexpr int groups = warp / lanes, step = unroll * Part::floats;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  // row i of a group is `groups` rows after row i - 1, so that a warp's loads are neighbours
  const std::int64_t first =
      (blockIdx.x * std::int64_t{block} + threadIdx.x) / warp * (rows * groups) +
      threadIdx.x % warp / lanes;
  const float* __restrict__ a[rows];
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    const std::int64_t row = first + i * groups;
    a[i] = line(p, row < p.rows ? row : 0);  // a row beyond the last reads an existing one
  }
  const float* __restrict__ v = p.v;
  float sums[rows] = {};
  int j = 0;
  for (; j <= p.columns - step; j += step) {
    float4 x[unroll][rows];
#pragma unroll
    for (int u = 0; u < unroll; ++u)
#pragma unroll
      for (int i = 0; i < rows; ++i)
        x[u][i] = Part::read(a[i] + j + u * Part::floats, lane, Streaming());
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const float4 y = Part::read(v + j + u * Part::floats, lane, Cached());
#pragma unroll
      for (int i = 0; i < rows; ++i) sums[i] = dot(x[u][i], y, sums[i]);
    }
  }
  for (; j < p.columns; j += Part::floats) {
    float4 x[rows];
#pragma unroll
    for (int i = 0; i < rows; ++i) x[i] = Part::read(a[i] + j, lane, p.columns - j, Streaming());
    const float4 y = Part::read(v + j, lane, p.columns - j, Cached());
#pragma unroll
    for (int i = 0; i < rows; ++i) sums[i] = dot(x[i], y, sums[i]);
  }
  const int index = reduce_all<lanes, rows>(sums, lane);
  constexpr int each = rows > lanes ? rows / lanes : 1, same = rows > lanes ? 1 : lanes / rows;
  if (lane % same != 0) return;  // lanes that hold the same sum
#pragma unroll
  for (int i = 0; i < each; ++i) {
    const std::int64_t row = first + (index + i) * groups;
    if (row < p.rows) p.r[row] = sums[i];
  }
}

template <int block, int rows, int unroll, int lanes>
void launch(const MatvecArgs& p, cudaStream_t stream) {
  constexpr std::int64_t each = block / lanes * std::int64_t{rows};
  const auto blocks = static_cast<unsigned>((p.rows + each - 1) / each);
  if (all_on_vectors(p))
    rows_per_warp_kernel<block, rows, unroll, lanes, true><<<blocks, block, 0, stream>>>(p);
  else
    rows_per_warp_kernel<block, rows, unroll, lanes, false><<<blocks, block, 0, stream>>>(p);
}

/// As many lanes as the row has vectors. A row with fewer than a warp's fits in one chunk; with few
/// such rows, small blocks start and finish faster.
template <int block, int rows, int unroll, int short_rows>
void by_columns(const MatvecArgs& p, cudaStream_t stream) {
  constexpr int small = 64;
  if (p.columns <= 1)
    launch<small, short_rows, 1, 1>(p, stream);
  else if (p.columns <= 16)
    launch<small, short_rows, 1, 4>(p, stream);
  else if (p.columns <= 64)
    launch<small, short_rows, 1, 16>(p, stream);
  else
    launch<block, rows, unroll, warp>(p, stream);
}

}  // namespace

template <int block, int rows, int unroll>
void rows_per_warp(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  // a small matrix needs every thread that its rows can be spread over
  constexpr std::int64_t few = std::int64_t{1} << 22;
  if (args.rows * std::int64_t{args.columns} <= few)
    by_columns<block, 1, rows * unroll, 1>(args, stream);
  else
    by_columns<block, rows, unroll, 8>(args, stream);
}

template void rows_per_warp<128, 4, 2>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
