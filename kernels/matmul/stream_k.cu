// SPDX-License-Identifier: Apache-2.0
//
// Every multiprocessor the same work. tma_persistent.cu deals out whole tiles, and where their
// number is no multiple of the multiprocessors' the last ones of each wave stand idle: at 3072 a
// quarter of all. Here only as many tiles are dealt out whole as all blocks can take alike, and the
// slabs of the one or two per block that remain are laid in one line and cut into equal stretches.
// Where a stretch ends inside a tile its sums go to C; the blocks whose stretches go on in that
// tile leave theirs in a workspace, and a second kernel, queued behind, adds them to C in the order
// of k: the same bits in every run. Source: Osama et al., "Stream-K: Work-centric Parallel
// Decomposition for Dense Matrix-Matrix Multiplication on the GPU" (2023), its hybrid form.

#include <cuda_runtime.h>

#include <algorithm>

#include "persistent.cuh"

namespace recheck::kernels::matmul {
namespace {

constexpr int add_threads = 256, adders = 8;  // blocks that share a tile

/// Adds to C what the stretches that go on in a tile have left of it: one block for each slice of a
/// tile and each stretch but the first.
template <class P>
__global__ void __launch_bounds__(add_threads)
    add_parts_kernel([[maybe_unused]] MatmulArgs p, [[maybe_unused]] Schedule schedule,
                     [[maybe_unused]] const float* parts) {
#ifdef RECHECK_HOPPER
  hopper::wait_for_previous();
  const Tail tail = schedule.tail(blockIdx.x / adders + 1);
  if (tail.last < tail.first) return;
  const Place corner = place_of_tile<typename P::T>(p, tail.tile);
  constexpr int slice = P::tile_floats / adders;
  const int begin = blockIdx.x % adders * slice;
#pragma unroll 4
  for (int i = begin + threadIdx.x; i < begin + slice; i += add_threads) {
    const int row = corner.row + i / P::columns, column = corner.column + i % P::columns;
    if (row >= p.m || column >= p.n) continue;
    float sum = p.c[row * p.ldc + column];
    for (int s = tail.first; s <= tail.last; ++s)
      sum += parts[static_cast<std::int64_t>(s) * P::tile_floats + i];
    p.c[row * p.ldc + column] = sum;
  }
#endif
}

}  // namespace

template <int warps_m, int warps_n, int tm, int tn>
void stream_k(const MatmulArgs& p, const Queue& queue) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0) return async_stages<2, 2, 8, 8, 16, 4, 3>(p, queue.stream);  // zeros
  using P = Plan<warps_m, warps_n, tm, tn, 16, 5, 1, 1>;
  static_assert(P::tile_floats <= stream_k_tile);
  const Schedule schedule = in_stretches(tiles<typename P::T>(p), slabs_of_tile<P>(p),
                                         std::min(multiprocessors(), stream_k_blocks));
  launch_persistent<P>(p, schedule, queue.workspace, queue.stream);
  if (schedule.whole < schedule.tiles && schedule.blocks > 1)
    launch_behind(add_parts_kernel<P>, static_cast<unsigned>((schedule.blocks - 1) * adders),
                  add_threads, 0, queue.stream, p, schedule, queue.workspace);
}

template void stream_k<4, 2, 8, 16>(const MatmulArgs&, const Queue&);
template void stream_k<4, 2, 8, 8>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
