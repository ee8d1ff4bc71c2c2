// SPDX-License-Identifier: Apache-2.0
//
// A derivative by tiles in shared memory, with 4 cells of halo at either end, as Mark Harris shows
// for a cube of 64 cells: there a tile spans the grid, here a grid has many. Along y few pencils
// mean short pieces of rows, which memory transfers whole.
#include <cuda_fp16.h>

#include "stencil.hpp"

namespace stencil {
namespace {

constexpr int cells = 64, threads = 256;

template <typename T, Axis axis, int pencils>
__global__ void __launch_bounds__(threads) tiles(Args args) {
  constexpr int length = cells + 2 * halo;
  __shared__ float tile[length * pencils];
  const auto* in = static_cast<const T*>(args.in);
  auto* out = static_cast<T*>(args.out);
  const std::int64_t end = axis == Axis::x ? args.columns : args.rows;
  const std::int64_t sides = axis == Axis::x ? args.rows : args.columns;
  const std::int64_t first = std::int64_t{blockIdx.y} * cells,
                     side = std::int64_t{blockIdx.x} * pencils;
  const auto at = [](std::int64_t along, std::int64_t across, std::int64_t ld) {
    return axis == Axis::x ? across * ld + along : along * ld + across;
  };
  // neighbours in memory are neighbours in the tile
  for (int p = threadIdx.x; p < length * pencils; p += threads) {
    const int along = axis == Axis::x ? p % length : p / pencils;
    const int across = axis == Axis::x ? p / length : p % pencils;
    if (side + across >= sides) continue;
    const std::int64_t from = ((first + along - halo) % end + end) % end;
    tile[p] = static_cast<float>(in[at(from, side + across, args.ldin)]);
  }
  __syncthreads();
  constexpr int step = axis == Axis::x ? 1 : pencils;
  for (int p = threadIdx.x; p < cells * pencils; p += threads) {
    const int along = axis == Axis::x ? p % cells : p / pencils;
    const int across = axis == Axis::x ? p / cells : p % pencils;
    if (side + across >= sides || first + along >= end) continue;
    const int centre =
        axis == Axis::x ? across * length + along + halo : (along + halo) * pencils + across;
    float sum = 0;
#pragma unroll
    for (int k = halo; k > 0; --k)
      sum += weight(k) * (tile[centre + k * step] - tile[centre - k * step]);
    out[at(first + along, side + across, args.ldout)] = static_cast<T>(sum);
  }
}

}  // namespace

template <bool half, Axis axis, int pencils>
void derivative(const Args& args, cudaStream_t stream) {
  const auto end = axis == Axis::x ? args.columns : args.rows;
  const auto sides = axis == Axis::x ? args.rows : args.columns;
  if (end == 0 || sides == 0) return;
  const dim3 grid(static_cast<unsigned>((sides + pencils - 1) / pencils),
                  static_cast<unsigned>((end + cells - 1) / cells));
  using T = std::conditional_t<half, __half, float>;
  tiles<T, axis, pencils><<<grid, threads, 0, stream>>>(args);
}

template void derivative<false, Axis::x, 4>(const Args&, cudaStream_t);
template void derivative<false, Axis::y, 4>(const Args&, cudaStream_t);
template void derivative<false, Axis::y, 32>(const Args&, cudaStream_t);
template void derivative<true, Axis::x, 4>(const Args&, cudaStream_t);
template void derivative<true, Axis::y, 4>(const Args&, cudaStream_t);
template void derivative<true, Axis::y, 32>(const Args&, cudaStream_t);

}  // namespace stencil
