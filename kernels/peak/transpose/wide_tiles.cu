// SPDX-License-Identifier: Apache-2.0
//
// Tiles of 64×64 in pieces of 16 bytes: a thread reads four pieces below one another, transposes
// these 4×4 elements in registers and puts four pieces into the transposed tile, which other
// threads store. The tile has no padding. Instead, the position of each piece in a row is xored
// with the row's number, so that no eight threads meet in a bank. Source: CuTe's swizzled layouts;
// yencal's float4 transposition on an H100.

#include "wide.cuh"

namespace recheck::kernels::transpose {
namespace {

/// Rows are tile_columns long in `in`, tile_rows in the tile; both sides are aligned for pieces.
template <int tile_rows, int tile_columns, int threads>
__global__ void __launch_bounds__(threads)
    wide_tiles_kernel(TransposeArgs p, unsigned tiles_down, unsigned tiles_across) {
  constexpr int in_lanes = tile_columns / 4, in_step = threads / in_lanes;
  constexpr int out_lanes = tile_rows / 4, out_step = threads / out_lanes;
  constexpr int blocks = out_lanes / in_step;  // of 4×4, per thread
  static_assert(out_lanes % 8 == 0 && out_lanes % in_step == 0 && tile_columns % out_step == 0);
  __shared__ Piece<4> tile[tile_columns][out_lanes];
  std::int64_t row, column;
  locate_tile<Order::of_input>(tiles_down, tiles_across, tile_rows, tile_columns, row, column);
  const std::int64_t rows = p.rows - row, columns = p.columns - column;
  const bool whole = rows >= tile_rows && columns >= tile_columns;
  const int tid = static_cast<int>(threadIdx.x);

  int x = tid % in_lanes, y = tid / in_lanes;
  const float* from = p.in + (row + 4 * y) * p.ldin + column + 4 * x;
  Piece<4> pieces[blocks][4];
#pragma unroll
  for (int i = 0; i < blocks; ++i, from += 4 * in_step * p.ldin)
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (whole || 4 * (y + i * in_step) + k < rows)
        pieces[i][k] = read_piece<4>(from + k * p.ldin, whole ? 4 : columns - 4 * x);
#pragma unroll
  for (int i = 0; i < blocks; ++i)
#pragma unroll
    for (int k = 0; k < 4; ++k)  // rows 4x to 4x + 3 of the tile have the same permutation
      tile[4 * x + k][(y + i * in_step) ^ (x % 8)] = {pieces[i][0].at[k], pieces[i][1].at[k],
                                                      pieces[i][2].at[k], pieces[i][3].at[k]};
  __syncthreads();

  x = tid % out_lanes, y = tid / out_lanes;
  float* to = p.out + (column + y) * p.ldout + row + 4 * x;
#pragma unroll
  for (int i = 0; i < tile_columns / out_step; ++i, to += out_step * p.ldout) {
    const int line = y + i * out_step;
    if (!whole && line >= columns) break;
    write_piece<Lines::normal>(to, tile[line][x ^ (line / 4 % 8)], whole ? 4 : rows - 4 * x);
  }
}

}  // namespace

template <int tile_rows, int tile_columns, int threads>
void wide_tiles(const TransposeArgs& p, cudaStream_t stream) {
  if (p.rows == 0 || p.columns == 0) return;
  if (!on_vectors(p.in, p.ldin) || !on_vectors(p.out, p.ldout))
    return launch_wide_tiles<64, 64, 512, Order::of_input>(p, stream);
  const unsigned down = tiles_over(p.rows, tile_rows), across = tiles_over(p.columns, tile_columns);
  wide_tiles_kernel<tile_rows, tile_columns, threads>
      <<<down * across, threads, 0, stream>>>(p, down, across);
}

template void wide_tiles<64, 64, 256>(const TransposeArgs&, cudaStream_t);

}  // namespace recheck::kernels::transpose
