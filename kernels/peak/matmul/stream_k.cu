// SPDX-License-Identifier: Apache-2.0
//
// The same work for every multiprocessor. tma_persistent.cu assigns whole tiles, and unless their
// number is a multiple of the multiprocessors', some of these are idle in the last wave: at 3072 a
// quarter. Here all blocks get the same number of whole tiles. The slabs of the remaining tiles,
// one or two tiles per block, form one sequence, cut into equal ranges. The block that begins a
// tile stores its sums in C. The blocks that continue the tile store theirs in a workspace, and a
// second kernel, launched afterwards, adds them to C in the order of k: the same bits in every run.
// The alternative, in which one block waits for the others' sums and adds them itself, saves that
// kernel but adds serially: it is not faster at 1024 and above, and slower below. Source: Osama et
// al., "Stream-K: Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on the
// GPU" (2023), its hybrid form.

#include <cuda_runtime.h>

#include <algorithm>

#include "persistent.cuh"

namespace recheck::kernels::matmul {
namespace {

constexpr int part_threads = 256, words = 4;  // of C, for each thread

/// Adds to C the parts of the blocks that continue a tile; each block of this kernel adds a slice.
template <class P>
__global__ void __launch_bounds__(part_threads)
    add_parts_kernel([[maybe_unused]] MatmulArgs p, [[maybe_unused]] Schedule schedule,
                     [[maybe_unused]] const float* parts) {
#ifdef RECHECK_HOPPER
  constexpr int slices = P::tile_floats / (part_threads * words), rows = part_threads / P::columns;
  static_assert(rows * P::columns == part_threads);
  const int tile = schedule.whole + blockIdx.x / slices;
  const auto [first, last] = schedule.going_on(tile);
  const Place corner = place_of_tile<typename P::T>(p, tile);
  const int i = blockIdx.x % slices * part_threads * words + threadIdx.x;
  const int row = corner.row + i / P::columns, column = corner.column + i % P::columns;
  float* c = p.c + row * p.ldc + column;
  const auto inside = [&](int w) { return row + w * rows < p.m && column < p.n; };
  hopper::griddepcontrol_wait();
  if (last < first) return;
  float sums[words];
#pragma unroll
  for (int w = 0; w < words; ++w) sums[w] = inside(w) ? c[w * rows * p.ldc] : 0;
  for (int block = first; block <= last; ++block)
#pragma unroll
    for (int w = 0; w < words; ++w)
      sums[w] += parts[static_cast<std::int64_t>(block) * P::tile_floats + i + w * part_threads];
#pragma unroll
  for (int w = 0; w < words; ++w)
    if (inside(w)) c[w * rows * p.ldc] = sums[w];
#endif
}

}  // namespace

template <int warps_m, int warps_n, int tm, int tn, int depth, int stages>
void stream_k(const MatmulArgs& args, const Queue& queue) {
  persistent<warps_m, warps_n, tm, tn, depth, stages, 1>(
      args, queue.workspace + stream_k_parts, queue.workspace, queue.stream,
      [](int tiles, int slabs) {
        return in_stretches(tiles, slabs, std::min(multiprocessors(), stream_k_blocks));
      },
      [&](auto plan, const MatmulArgs& p, const Schedule& schedule) {
        using P = decltype(plan);
        static_assert(P::tile_floats <= stream_k_tile);
        constexpr int slices = P::tile_floats / (part_threads * words);
        const int count = tiles<typename P::T>(p) - schedule.whole;
        if (count > 0)
          launch_behind(add_parts_kernel<P>, static_cast<unsigned>(count * slices), part_threads, 0,
                        queue.stream, p, schedule, queue.workspace);
      });
}

template void stream_k<4, 2, 8, 16, 16, 5>(const MatmulArgs&, const Queue&);
template void stream_k<4, 2, 8, 8, 32, 4>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
