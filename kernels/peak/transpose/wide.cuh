// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the wide kernels share: pieces of one or four floats, depending on the alignment of a
// matrix's rows, and a tile that carries such pieces through shared memory with few instructions
// per element.

#include "../vectors.hpp"
#include "transpose.hpp"

namespace recheck::kernels::transpose {

/// How many tiles of that size cover an extent that is not 0. A grid of tiles fits in one
/// dimension: 2³¹ tiles of 1024 floats are 8 TiB.
inline unsigned tiles_over(int extent, int size) {
  return static_cast<unsigned>((extent - 1) / size + 1);
}

/// Neighbours in a row, moved by one instruction.
template <int width>
struct alignas(4 * width) Piece {
  float at[width];
};

/// A piece whose first `inside` elements exist; the others become 0.
template <int width>
__device__ Piece<width> read_piece(const float* from, std::int64_t inside) {
  if (inside >= width) return *reinterpret_cast<const Piece<width>*>(from);
  Piece<width> piece = {};
#pragma unroll
  for (int i = 0; i < width; ++i)
    if (i < inside) piece.at[i] = from[i];
  return piece;
}

/// When written lines leave L2: in their turn, or after all others.
enum class Lines { normal, kept };

template <Lines lines, int width>
__device__ void write_piece(float* to, const Piece<width>& piece, std::int64_t inside) {
  if (inside >= width) {
#if __CUDA_ARCH__ >= 800
    if constexpr (lines == Lines::kept && width == 4) {
      std::uint64_t policy;
      asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
      asm volatile("st.global.L2::cache_hint.v4.f32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to),
                   "f"(piece.at[0]), "f"(piece.at[1]), "f"(piece.at[2]), "f"(piece.at[3]),
                   "l"(policy)
                   : "memory");
      return;
    }
#endif
    if constexpr (width == 4)  // otherwise the compiler merges this with the words below
      __stwb(reinterpret_cast<float4*>(to),
             make_float4(piece.at[0], piece.at[1], piece.at[2], piece.at[3]));
    else
      *reinterpret_cast<Piece<width>*>(to) = piece;
    return;
  }
#pragma unroll
  for (int i = 0; i < width; ++i)
    if (i < inside) to[i] = piece.at[i];
}

/// The order in which blocks take tiles (they start in the order of their numbers): along the rows
/// of `in`, or down its columns, which is along the rows of out.
enum class Order { of_input, of_output };

template <Order order>
__device__ void locate_tile(unsigned tiles_down, unsigned tiles_across, int tile_rows,
                            int tile_columns, std::int64_t& row, std::int64_t& column) {
  const unsigned length = order == Order::of_input ? tiles_across : tiles_down;
  const unsigned line = blockIdx.x / length, place = blockIdx.x - line * length;
  row = std::int64_t{order == Order::of_input ? line : place} * tile_rows;
  column = std::int64_t{order == Order::of_input ? place : line} * tile_columns;
}

/// Carries a tile through shared memory. Pieces are written and read word by word, so that each
/// side may be aligned or not. A row's padding of one word keeps both directions at two lanes per
/// bank for pieces of four and at one for single words. Each thread's pieces lie a constant number
/// of rows apart: an element costs a load, two moves, a store and a quarter to two additions.
template <int tile_rows, int tile_columns, int threads, int in_width, int out_width, Order order,
          Lines lines>
__global__ void __launch_bounds__(threads)
    tiles_kernel(TransposeArgs p, unsigned tiles_down, unsigned tiles_across) {
  constexpr int in_lanes = tile_columns / in_width, in_step = threads / in_lanes;
  constexpr int out_lanes = tile_rows / out_width, out_step = threads / out_lanes;
  constexpr int in_pieces = tile_rows / in_step, out_pieces = tile_columns / out_step;
  static_assert(threads % in_lanes == 0 && threads % out_lanes == 0);
  static_assert(tile_rows % in_step == 0 && tile_columns % out_step == 0);
  __shared__ float tile[tile_rows][tile_columns + 1];
  std::int64_t row, column;
  locate_tile<order>(tiles_down, tiles_across, tile_rows, tile_columns, row, column);
  const std::int64_t rows = p.rows - row, columns = p.columns - column;  // from here on
  const bool whole = rows >= tile_rows && columns >= tile_columns;
  const int tid = static_cast<int>(threadIdx.x);

  int x = tid % in_lanes * in_width, y = tid / in_lanes;
  const float* from = p.in + (row + y) * p.ldin + column + x;
  Piece<in_width> pieces[in_pieces];  // all are requested before the first is used
#pragma unroll
  for (int i = 0; i < in_pieces; ++i, from += in_step * p.ldin)
    if (whole || y + i * in_step < rows)
      pieces[i] = read_piece<in_width>(from, whole ? in_width : columns - x);
#pragma unroll
  for (int i = 0; i < in_pieces; ++i)
#pragma unroll
    for (int k = 0; k < in_width; ++k) tile[y + i * in_step][x + k] = pieces[i].at[k];
  __syncthreads();

  x = tid % out_lanes * out_width, y = tid / out_lanes;
  float* to = p.out + (column + y) * p.ldout + row + x;
#pragma unroll
  for (int i = 0; i < out_pieces; ++i, to += out_step * p.ldout) {
    if (!whole && y + i * out_step >= columns) break;
    Piece<out_width> piece;
#pragma unroll
    for (int k = 0; k < out_width; ++k) piece.at[k] = tile[x + k][y + i * out_step];
    write_piece<lines>(to, piece, whole ? out_width : rows - x);
  }
}

/// One block per tile, in pieces as wide as each side's alignment allows.
template <int tile_rows, int tile_columns, int threads, Order order, Lines lines = Lines::normal>
void launch_wide_tiles(const TransposeArgs& p, cudaStream_t stream) {
  if (p.rows == 0 || p.columns == 0) return;
  const unsigned down = tiles_over(p.rows, tile_rows), across = tiles_over(p.columns, tile_columns);
  const auto launch = [&](auto kernel) {
    kernel<<<down * across, threads, 0, stream>>>(p, down, across);
  };
  const bool in = on_vectors(p.in, p.ldin), out = on_vectors(p.out, p.ldout);
  if (in && out)
    launch(tiles_kernel<tile_rows, tile_columns, threads, 4, 4, order, lines>);
  else if (in)
    launch(tiles_kernel<tile_rows, tile_columns, threads, 4, 1, order, lines>);
  else if (out)
    launch(tiles_kernel<tile_rows, tile_columns, threads, 1, 4, order, lines>);
  else
    launch(tiles_kernel<tile_rows, tile_columns, threads, 1, 1, order, lines>);
}

}  // namespace recheck::kernels::transpose
