// SPDX-License-Identifier: Apache-2.0
//
// A derivative by tiles in shared memory with a halo of 4 cells at either end, as Mark Harris shows
// for a cube of 64 cells. There a tile spans the grid; here a grid has many tiles. Along y, few
// pencils mean short pieces of rows, while memory transfers whole segments.
#include <cuda_fp16.h>

#include <bit>

#include "stencil.hpp"

namespace stencil {
namespace {

constexpr int cells = 64, threads = 256;

template <typename T, Axis axis, int pencils>
__global__ void __launch_bounds__(threads) tiles(Args<T> args) {
  constexpr int length = cells + 2 * halo;
  __shared__ float tile[length * pencils];
  const std::int64_t end = axis == Axis::x ? args.columns : args.rows;
  const std::int64_t sides = axis == Axis::x ? args.rows : args.columns;
  const std::int64_t first = std::int64_t{blockIdx.y} * cells;
  // calls body with each of this thread's cells along the axis: neighbours in memory are neighbours
  // in the tile
  const auto each_cell = [&](int count, auto body) {
    for (int p = threadIdx.x; p < count * pencils; p += threads) {
      const int along = axis == Axis::x ? p % count : p / pencils;
      const int across = axis == Axis::x ? p / count : p % pencils;
      const std::int64_t side = std::int64_t{blockIdx.x} * pencils + across;
      if (side < sides) body(along, across * (axis == Axis::x ? length : 1), side);
    }
  };
  const auto at = [](std::int64_t along, std::int64_t side, std::int64_t ld) {
    return axis == Axis::x ? side * ld + along : along * ld + side;
  };
  constexpr int step = axis == Axis::x ? 1 : pencils;
  each_cell(length, [&](int along, int pencil, std::int64_t side) {
    std::int64_t from = first + along - halo;
    while (from < 0) from += end;
    while (from >= end) from -= end;
    tile[pencil + along * step] = static_cast<float>(args.in[at(from, side, args.ldin)]);
  });
  __syncthreads();
  each_cell(cells, [&](int along, int pencil, std::int64_t side) {
    if (first + along >= end) return;
    const float* own = tile + pencil + (along + halo) * step;
    float sum = 0;
    for (int k = halo; k > 0; --k) sum += weight(k) * (own[k * step] - own[-k * step]);
    args.out[at(first + along, side, args.ldout)] = static_cast<T>(sum);
  });
}

}  // namespace

template <typename T, Axis axis, int pencils>
void derivative(const Args<T>& args, cudaStream_t stream) {
  const auto end = axis == Axis::x ? args.columns : args.rows;
  const auto sides = axis == Axis::x ? args.rows : args.columns;
  if (end == 0 || sides == 0) return;
  const dim3 grid(static_cast<unsigned>((sides + pencils - 1) / pencils),
                  static_cast<unsigned>((end + cells - 1) / cells));
  using Own = std::conditional_t<std::is_same_v<T, recheck::fp16>, __half, T>;
  tiles<Own, axis, pencils><<<grid, threads, 0, stream>>>(std::bit_cast<Args<Own>>(args));
}

using recheck::fp16;
template void derivative<float, Axis::x, 4>(const Args<float>&, cudaStream_t);
template void derivative<float, Axis::y, 4>(const Args<float>&, cudaStream_t);
template void derivative<float, Axis::y, 32>(const Args<float>&, cudaStream_t);
template void derivative<fp16, Axis::x, 4>(const Args<fp16>&, cudaStream_t);
template void derivative<fp16, Axis::y, 4>(const Args<fp16>&, cudaStream_t);
template void derivative<fp16, Axis::y, 32>(const Args<fp16>&, cudaStream_t);

}  // namespace stencil
