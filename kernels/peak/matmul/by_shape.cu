// SPDX-License-Identifier: Apache-2.0
//
// One name for all shapes: which kernel is fastest depends on how many tiles of 128×128 there are
// for the multiprocessors, and how deep they are. Few slabs: the kernels without large tiles, whose
// warps share k, or, if k is so short that nothing is left to share, async_stages. As many tiles as
// pairs of multiprocessors: a cluster of two for each tile. Otherwise equal ranges of k, in tiles
// twice as wide where that wastes no outputs.

#include "../../launch.hpp"
#include "edges.cuh"
#include "warp_tile.cuh"

namespace recheck::kernels::matmul {

void by_shape(const MatmulArgs& args, const Queue& queue) {
  using Square = WarpTiles<4, 2, 8, 8, 32>;
  using Wide = WarpTiles<4, 2, 8, 16, 16>;
  const auto padded = [&](auto tile) -> std::int64_t {
    using T = decltype(tile);
    const MatmulArgs tiled = edges_of<T>(args).rest_of(args);
    return std::int64_t{tiles<T>(tiled)} * T::rows * T::columns;
  };
  const std::int64_t all = multiprocessors(), square = padded(Square{}), wide = padded(Wide{});
  const std::int64_t count = square / (Square::rows * Square::columns);
  const std::int64_t slabs = count * ((args.k + Square::depth - 1) / Square::depth);
  if (slabs <= 4 * all) {
    if (args.k <= 128 && 4 * count >= all)
      async_stages<2, 2, 8, 8, 16, 4, 3>(args, queue.stream);
    else if (std::int64_t{args.m} * args.n <= 256 * 256)
      k_warps<4, 4, 4, 256>(args, queue);
    else
      k_warps<4, 8, 4, 256>(args, queue);
  } else if (2 * count <= all && 2 * count > all * 17 / 20) {
    tma_persistent<4, 2, 8, 8, 32, 4, 2>(args, queue);
  } else if (count >= all && 100 * wide <= 103 * square) {
    stream_k<4, 2, 8, 16, 16, 5>(args, queue);
  } else {
    stream_k<4, 2, 8, 8, 32, 4>(args, queue);
  }
}

}  // namespace recheck::kernels::matmul
