// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel of tma_persistent.cu and stream_k.cu: producer warps (persistent_loads.cuh) and
// consumer warps, joined by a ring of slabs. They work on the pieces of the product that the
// schedule gives a block.

#include <type_traits>

#include "../../launch.hpp"
#include "../cluster.cuh"
#include "../float4.cuh"
#include "../hopper.cuh"
#include "../tensor_map.hpp"
#include "aligned_b.cuh"
#include "edges.cuh"
#include "persistent_loads.cuh"
#include "schedule.hpp"
#include "warp_tile.cuh"

namespace recheck::kernels::matmul {

/// A plan and the sizes that follow from it, in addition to those of its tile. `split` blocks of a
/// cluster share a tile's k. `vectors`: C has all rows on 16 bytes.
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages_, int split_,
          bool vectors_>
struct Plan : WarpTiles<warps_m, warps_n, tm, tn, depth> {
  using T = WarpTiles<warps_m, warps_n, tm, tn, depth>;
  static constexpr int stages = stages_, split = split_;
  static constexpr bool vectors = vectors_;
  static constexpr int consumers = T::threads;
  // setmaxnreg works on whole warpgroups
  static constexpr int producer_warps = 4, producers = 32 * producer_warps;
  static constexpr int threads = consumers + producers;
  static_assert(T::warps == 8, "what setmaxnreg hands out is for 8 + 4 warps");
  static constexpr int tile_floats = T::rows * T::columns;
  static constexpr int exchange_floats = vectors || split > 1 ? 0 : T::warps* stage_floats;
  static constexpr int floats = stages * T::slab_floats + exchange_floats;
  static_assert(split == 1 || tile_floats <= stages * T::slab_floats);
  static constexpr int alignment = 1024;
  static constexpr int bytes = floats * 4 + stages * 2 * sizeof(hopper::Mbarrier) + alignment;
};

/// The product's arguments with the block's own tile, (rows, columns), for C.
template <class P>
__device__ __forceinline__ MatmulArgs into_tile(MatmulArgs p, float* tile) {
  p.m = P::rows, p.n = P::columns, p.c = tile, p.ldc = P::columns;
  return p;
}

/// Whether each lane that has read a slab arrives for itself, or one for its warp, which takes 3 to
/// 4 % less time. Compute Sanitizer's racecheck needs the former: it does not see that a
/// bar.warp.sync orders the other lanes' reads before the one lane's arrival.
#ifdef RECHECK_EVERY_LANE_ARRIVES
constexpr bool every_lane_arrives = true;
#else
constexpr bool every_lane_arrives = false;
#endif

/// Lets the producers fill a slot again, after the loads of its last fragment were issued. The
/// arrival is a release, so it orders the loads before the producers' wait, an acquire;
/// bar.warp.sync does the same for the other lanes' loads.
__device__ __forceinline__ void give_back(hopper::Mbarrier* empty, int lane) {
  __syncwarp();
  if (every_lane_arrives || lane == 0) hopper::mbarrier_arrive(empty);
}

/// A consumer warp. Stores the sums of a piece in C, or in the block's tile of `parts` if the piece
/// begins inside a tile. Where a cluster shares k, it stores them in shared memory over the slabs.
template <class P>
__device__ __forceinline__ void consume(const MatmulArgs& p, const Schedule& schedule, float* parts,
                                        Ring<P> ring, int warp, int lane) {
  using T = typename P::T;
  Place mine = place_in_tile<T>(warp, lane);
  // keeps both in registers; otherwise the compiler computes them again for each slab
  asm("" : "+r"(mine.row), "+r"(mine.column));

  Outputs<T> outputs;
  Fragment<T> fragment[2];  // one is multiplied while the other is loaded
  const auto load = [&](int slot, int k, int into) {
    fragment[into].load(ring.slabs + slot * T::slab_floats, mine, k);
  };
  int left = P::split == 1 ? schedule.total(blockIdx.x) : piece_of_block<P>(schedule, 0).count;
  if (left > 0) {
    hopper::mbarrier_wait_parity(ring.full, 0);
    load(0, 0, 0);
  }
#pragma unroll 1
  for (int done = 0; left > 0; ++done) {
    const Piece piece = piece_of_block<P>(schedule, done);
#pragma unroll 1
    for (int s = 0; s < piece.count; ++s) {
      const int slot = ring.slot;
      ring.advance();
      --left;
#pragma unroll
      for (int k = 0; k < T::depth; ++k) {
        if (k == T::depth - 1) {
          give_back(ring.empty + slot, lane);
          if (left > 0) hopper::mbarrier_wait_parity(ring.full + ring.slot, ring.phase);
          load(ring.slot, 0, 0);  // after the last slab: stale words that are not used
        } else {
          load(slot, k + 1, (k + 1) % 2);
        }
        outputs.add(fragment[k % 2]);
      }
    }
    if constexpr (P::split == 1) {
      const bool begun = piece.begin == 0;
      const Place corner = begun ? place_of_tile<T>(p, piece.tile) : Place{0, 0};
      float* part = parts + static_cast<std::int64_t>(blockIdx.x) * P::tile_floats;
      const MatmulArgs into = begun ? p : into_tile<P>(p, part);
      const Place at = {corner.row + mine.row, corner.column + mine.column};
      if constexpr (P::vectors)
        outputs.store(into, true, at.row, at.column);
      else
        outputs.store_rows(into, ring.slabs + P::stages * P::slab_floats + warp * stage_floats,
                           lane, at);
      outputs = {};
    }
  }
  if constexpr (P::split > 1) {
    hopper::bar_sync(1, P::consumers);  // all warps have read their last slab
    outputs.store(into_tile<P>(p, ring.slabs), true, mine.row, mine.column);
  }
}

/// Adds the sums that the blocks of a cluster have in shared memory, in the order of the blocks;
/// each block adds and stores a share of the tile, `width` neighbours at a time.
template <class P>
__device__ __forceinline__ void add_parts(const MatmulArgs& p, const float* sums) {
  using Words = std::conditional_t<P::vectors, float4, float>;
  constexpr int width = sizeof(Words) / sizeof(float), across = P::columns / width;
  __syncwarp();
  barrier_cluster_arrive();
  barrier_cluster_wait();
  const Place corner = place_of_tile<typename P::T>(p, blockIdx.x / P::split);
  const int rank = blockIdx.x % P::split;
  for (int i = rank * P::consumers + threadIdx.x; i < P::rows * across;
       i += P::split * P::consumers) {
    Words total = {};
#pragma unroll
    for (int r = 0; r < P::split; ++r)
      total = total + ld_shared_cluster(reinterpret_cast<const Words*>(sums) + i, r);
    const int row = corner.row + i / across, column = corner.column + i % across * width;
    if constexpr (P::vectors)
      store_four(p, true, row, column, total);
    else if (row < p.m && column < p.n)
      p.c[row * p.ldc + column] = total;
  }
  barrier_cluster_arrive();  // no block ends while others read its sums
  barrier_cluster_wait();
}

template <class P>
__global__ void __launch_bounds__(P::threads, 1)
    persistent_kernel([[maybe_unused]] const __grid_constant__ CUtensorMap map_b,
                      [[maybe_unused]] MatmulArgs p, [[maybe_unused]] Schedule schedule,
                      [[maybe_unused]] float* parts) {
#ifdef RECHECK_HOPPER
  extern __shared__ char unaligned[];
  Ring<P> ring;
  ring.slabs = reinterpret_cast<float*>(unaligned +
                                        (-hopper::shared_address(unaligned) & (P::alignment - 1)));
  ring.full = reinterpret_cast<hopper::Mbarrier*>(ring.slabs + P::floats);
  ring.empty = ring.full + P::stages;
  // the shuffle tells the compiler that all lanes have the same warp number
  const int lane = threadIdx.x % 32, warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
  if (parts) hopper::griddepcontrol_launch_dependents();  // starts the kernel that adds them
  if (threadIdx.x == 0) {
    hopper::prefetch_tensormap(&map_b);
    for (int s = 0; s < P::stages; ++s) {
      hopper::mbarrier_init(ring.full + s, P::producers + 1);
      hopper::mbarrier_init(ring.empty + s, every_lane_arrives ? P::consumers : P::warps);
    }
    hopper::fence_mbarrier_init();
  }
  __syncthreads();
  if (warp >= P::warps) {
    hopper::setmaxnreg_dec<40>();
    produce<P>(map_b, p, schedule, ring, warp - P::warps, lane);
  } else {
    hopper::setmaxnreg_inc<232>();
    consume<P>(p, schedule, parts, ring, warp, lane);
    if constexpr (P::split > 1) add_parts<P>(p, ring.slabs);
  }
#endif
}

/// Computes the product with a persistent kernel and, where they would fill little of a tile, the
/// last rows and columns with the kernel of edges.cuh. `share(tiles, slabs)` is the schedule. The
/// workspace has room for a copy of B (aligned_b_floats) and, in `parts`, for a tile for each block
/// if any block's work begins inside a tile; then `finish(P{}, p, schedule)` adds them. Without
/// tensor maps async_stages computes the product. The error stays for the caller's
/// cudaGetLastError.
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int split,
          typename Share, typename Finish>
void persistent(const MatmulArgs& args, float* room_for_b, float* parts, cudaStream_t stream,
                Share share, Finish finish) {
  const auto run = [&](auto plan) {
    using P = decltype(plan);
    const Edges edges = edges_of<typename P::T>(args);
    MatmulArgs p = edges.rest_of(args);
    const bool copied = p.k > 0 && !on_vectors(p.b, p.ldb);
    if (copied) align_b(p, room_for_b, stream);
    CUtensorMap map_b;
    if (p.k == 0 || !encode_floats(p.b, p.k, p.n, p.ldb, depth, P::columns, map_b))
      return async_stages<2, 2, 8, 8, 16, 4, 3>(args, stream);
    if (edges.any()) compute_edges(args, edges, copied, stream);
    const auto kernel = persistent_kernel<P>;
    if (!allow_shared(kernel, P::bytes)) return;
    const Schedule schedule = share(tiles<typename P::T>(p), (p.k + depth - 1) / depth);
    launch_with({.behind = copied || edges.any(), .cluster = split}, kernel, dim3(schedule.blocks),
                P::threads, P::bytes, stream, map_b, p, schedule, parts);
    finish(plan, p, schedule);
  };
  if (args.m == 0 || args.n == 0) return;
  if (on_vectors(args.c, args.ldc))
    run(Plan<warps_m, warps_n, tm, tn, depth, stages, split, true>{});
  else
    run(Plan<warps_m, warps_n, tm, tn, depth, stages, split, false>{});
}

}  // namespace recheck::kernels::matmul
