// SPDX-License-Identifier: Apache-2.0
//
// A matrix of fewer than 32 rows or columns fills no tile. A block takes all of its short side and
// a chunk of the long one, which is contiguous, or nearly, in both matrices. The side with long
// rows is crossed row by row, the other from element to element. A vector whose two sides are
// contiguous needs no transposition and is copied, one piece of 16 bytes per thread.

#include "wide.cuh"

namespace recheck::kernels::transpose {
namespace {

constexpr int threads = 256, chunk = 4096;  // elements of a block

/// The long side has `length` elements, the short one `size` < 32. If `wide`, `in` has the long
/// rows, otherwise out.
template <bool wide>
__global__ void __launch_bounds__(threads) thin_kernel(TransposeArgs p, int size, int length) {
  __shared__ float tile[chunk + 32];
  const int span = chunk / size / 32 * 32;  // along the long side; at least 128, at most 4096
  // lanes take all `size` elements of about 32 / size columns: this stride keeps them apart
  const int stride = span + 32 / size % 32;
  const std::int64_t first = std::int64_t{blockIdx.x} * span;
  const int here = static_cast<int>(length - first < span ? length - first : span);
  const int tid = static_cast<int>(threadIdx.x);
  const std::int64_t long_ld = wide ? p.ldin : p.ldout, short_ld = wide ? p.ldout : p.ldin;

  const auto along = [&](auto move) {  // move(place in the tile, offset where rows are long)
    for (int y = 0; y < size; ++y)
#pragma unroll 4
      for (int x = tid; x < here; x += threads) move(y * stride + x, y * long_ld + first + x);
  };
  const auto across = [&](auto move) {  // as along, where rows are short
    int x = tid / size, y = tid % size;
    const int step_x = threads / size, step_y = threads % size;
#pragma unroll 4
    while (x < here) {
      move(y * stride + x, (first + x) * short_ld + y);
      x += step_x, y += step_y;
      if (y >= size) y -= size, ++x;
    }
  };
  const auto load = [&](int to, std::int64_t from) { tile[to] = p.in[from]; };
  const auto store = [&](int from, std::int64_t to) { p.out[to] = tile[from]; };
  if constexpr (wide)
    along(load);
  else
    across(load);
  __syncthreads();
  if constexpr (wide)
    across(store);
  else
    along(store);
}

template <int width>
__global__ void __launch_bounds__(threads) copy_vector(const float* in, float* out, int length) {
  const std::int64_t i = (std::int64_t{blockIdx.x} * threads + threadIdx.x) * width;
  if (i < length)
    write_piece<Lines::normal>(out + i, read_piece<width>(in + i, length - i), length - i);
}

template <int width>
void launch_copy(const TransposeArgs& p, int length, cudaStream_t stream) {
  copy_vector<width>
      <<<tiles_over(length, threads * width), threads, 0, stream>>>(p.in, p.out, length);
}

}  // namespace

void thin(const TransposeArgs& p, cudaStream_t stream) {
  if (p.rows == 0 || p.columns == 0) return;
  const bool wide = p.rows <= p.columns;
  const int size = wide ? p.rows : p.columns, length = wide ? p.columns : p.rows;
  if (size >= 32) return launch_wide_tiles<64, 64, 512, Order::of_output>(p, stream);
  if (size == 1 && (wide ? p.ldout : p.ldin) == 1) {
    if (on_vectors(p.in, 4) && on_vectors(p.out, 4)) return launch_copy<4>(p, length, stream);
    return launch_copy<1>(p, length, stream);
  }
  const unsigned grid = tiles_over(length, chunk / size / 32 * 32);
  if (wide)
    thin_kernel<true><<<grid, threads, 0, stream>>>(p, size, length);
  else
    thin_kernel<false><<<grid, threads, 0, stream>>>(p, size, length);
}

}  // namespace recheck::kernels::transpose
