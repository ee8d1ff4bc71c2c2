// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel of tma_persistent.cu and stream_k.cu: producer warps and consumer warps, joined by a
// ring of slabs. They work on the pieces of the product that the schedule gives a block.

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "../../launch.hpp"
#include "../cluster.cuh"
#include "../hopper.cuh"
#include "../tensor_map.hpp"
#include "aligned_b.cuh"
#include "schedule.hpp"
#include "warp_tile.cuh"

namespace recheck::kernels::matmul {

/// A plan and the sizes that follow from it, in addition to those of its tile.
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages_, int split_, int blocks_>
struct Plan : WarpTiles<warps_m, warps_n, tm, tn, depth> {
  using T = WarpTiles<warps_m, warps_n, tm, tn, depth>;
  static constexpr int stages = stages_, split = split_, blocks = blocks_;
  static constexpr int consumers = T::threads;
  // setmaxnreg works on whole warpgroups; it is used where a block has the multiprocessor to itself
  static constexpr bool registers_move = blocks == 1;
  static constexpr int producer_warps = registers_move ? 4 : 1, producers = 32 * producer_warps;
  static constexpr int threads = consumers + producers;
  static_assert(!registers_move || T::warps == 8, "what setmaxnreg hands out is for 8 + 4 warps");
  static constexpr int tile_floats = T::rows * T::columns;
  static constexpr int partial_sums = split > 1 ? tile_floats : 0;
  static constexpr int floats = std::max(stages * T::slab_floats, partial_sums);
  static constexpr int alignment = 1024;
  static constexpr int bytes = floats * 4 + stages * 2 * sizeof(hopper::Mbarrier) + alignment;
};

/// The ring of slabs with two mbarriers to a slot. Holds its user's current slot and the parity to
/// wait for.
template <class P>
struct Ring {
  float* slabs;  // (stages, slab)
  hopper::Mbarrier *full, *empty;
  int slot = 0;
  unsigned phase = 0;

  __device__ void advance() {
    if (++slot == P::stages) slot = 0, phase ^= 1;
  }
};

__device__ inline void copy_word(unsigned to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
/// Copies the word, or 0 if it is not `inside`; `base` is any readable address.
__device__ inline void copy_word(unsigned to, const float* from, bool inside, const float* base) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(inside ? from : base),
               "r"(inside ? 4 : 0)
               : "memory");
}
/// Has `barrier` receive this thread's arrival once all its cp.async so far have completed.
__device__ inline void cp_async_mbarrier_arrive_noinc(hopper::Mbarrier* barrier) {
  asm volatile(
      "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(hopper::shared_address(barrier))
      : "memory");
}

template <class P>
__device__ Piece piece_of_block(const Schedule& schedule, int i) {
  if constexpr (P::split == 1) return schedule.piece(blockIdx.x, i);
  if (i > 0) return {0, 0, 0};
  return share(blockIdx.x / P::split, schedule.slabs, blockIdx.x % P::split, P::split);
}

/// The producers. One thread loads B by TMA. A comes by cp.async: a warp copies 8 words along k of
/// each of 4 rows.
template <class P>
__device__ __forceinline__ void produce(const CUtensorMap& map_b, const MatmulArgs& p,
                                        const Schedule& schedule, Ring<P> ring, int warp,
                                        int lane) {
  constexpr int rows_at_once = 4 * P::producer_warps, passes = P::rows / rows_at_once;
  constexpr int pieces = P::depth / 8;  // of a row
  constexpr unsigned b_bytes = (P::slab_floats - P::a_floats) * sizeof(float);
  const int k_lane = lane % 8, row_lane = lane / 8 + warp * 4;
  const unsigned to_a = hopper::shared_address(ring.slabs) + 4 * (k_lane * P::a_pitch + row_lane);
  ring.phase = 1;  // all slots are empty
#pragma unroll 1
  for (int done = 0;; ++done) {
    const Piece piece = piece_of_block<P>(schedule, done);
    if (piece.count == 0) break;
    const Place corner = place_of_tile<typename P::T>(p, piece.tile);
    const float* from[passes];
#pragma unroll
    for (int i = 0; i < passes; ++i) {
      const std::int64_t row = min(corner.row + row_lane + rows_at_once * i, p.m - 1);
      from[i] = p.a + row * p.lda + piece.begin * P::depth + k_lane;
    }
#pragma unroll 1
    for (int s = 0; s < piece.count; ++s) {
      const int k0 = (piece.begin + s) * P::depth;
      hopper::mbarrier_wait_parity(ring.empty + ring.slot, ring.phase);
      hopper::Mbarrier* full = ring.full + ring.slot;
      if (warp == 0 && lane == 0) {
        hopper::mbarrier_arrive_expect_tx(full, b_bytes);
        hopper::cp_async_bulk_tensor_3d_global_to_shared(
            ring.slabs + ring.slot * P::slab_floats + P::a_floats, &map_b, corner.column, k0, 0,
            full);
      }
      const unsigned slot = ring.slot * P::slab_floats * 4;
      const auto at = [&](int i, int q) {
        return to_a + slot + 4 * (i * rows_at_once + q * 8 * P::a_pitch);
      };
      if (k0 + P::depth <= p.k) {
#pragma unroll
        for (int i = 0; i < passes; ++i)
#pragma unroll
          for (int q = 0; q < pieces; ++q) copy_word(at(i, q), from[i] + 8 * q);
#pragma unroll
        for (int i = 0; i < passes; ++i) from[i] += P::depth;
      } else {  // the tile's last slab
#pragma unroll
        for (int i = 0; i < passes; ++i)
#pragma unroll
          for (int q = 0; q < pieces; ++q)
            copy_word(at(i, q), from[i] + 8 * q, k0 + k_lane + 8 * q < p.k, p.a);
      }
      cp_async_mbarrier_arrive_noinc(full);
      ring.advance();
    }
  }
}

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

/// Whether the loads of the last fragment but one have completed by the time that a slab is given
/// back. ptxas may load that fragment after the last one, so this is known only for one compiler
/// with its own ptxas. Earlier fragments are not tied to the arrival; test_machine_code.py checks
/// in the machine code of the compiler in use that they have been read by then.
#if __CUDACC_VER_MAJOR__ == 13 && __CUDACC_VER_MINOR__ == 0 && \
    defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(__CUDACC_DEBUG__)
template <typename T>
constexpr bool last_tells_all = T::depth == 16 && T::tm * T::tn >= 64;
#else
template <typename T>
constexpr bool last_tells_all = false;
#endif

/// Lets the producers fill a slot again, after the loads of its last two fragments were issued. An
/// mbarrier.arrive does not wait for earlier loads from shared memory, and TMA may overwrite words
/// that are still to be read: one launch in 2000 then came out wrong. So the arrival is made to
/// depend on the loaded values, through an AND with blockIdx.y, which is always 0. It depends on
/// the last fragment but one only where necessary, as ptxas then schedules the whole loop
/// differently, which makes stream_k 4.5 % slower. A fence.proxy.async costs 2 %. By the PTX ISA's
/// rules a vote does not order memory, so a bar.warp.sync orders the other lanes' loads before the
/// one lane's arrival.
template <typename T>
__device__ __forceinline__ void give_back(hopper::Mbarrier* empty, const Fragment<T>& before,
                                          const Fragment<T>& last, int lane) {
  const unsigned bits = last.bits() | (last_tells_all<T> ? 0 : before.bits());
  const bool read = !__any_sync(~0u, bits & blockIdx.y);
  __syncwarp();
  if (read && (every_lane_arrives || lane == 0)) hopper::mbarrier_arrive(empty);
}

/// A consumer warp. Stores the sums of a piece in C, or in the block's tile of `parts` if the piece
/// begins inside a tile. Where a cluster shares k, it stores them in shared memory over the slabs.
template <class P>
__device__ __forceinline__ void consume(const MatmulArgs& p, const Schedule& schedule, float* parts,
                                        Ring<P> ring, int warp, int lane, bool vectors) {
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
          give_back(ring.empty + slot, fragment[(k + 1) % 2], fragment[k % 2], lane);
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
      outputs.store(begun ? p : into_tile<P>(p, part), vectors || !begun, corner.row + mine.row,
                    corner.column + mine.column);
      outputs = {};
    }
  }
  if constexpr (P::split > 1) {
    hopper::bar_sync(1, P::consumers);  // all warps have read their last slab
    outputs.store(into_tile<P>(p, ring.slabs), true, mine.row, mine.column);
  }
}

/// Adds the sums that the blocks of a cluster have in shared memory, in the order of the blocks;
/// each block adds and stores a share of the tile.
template <class P>
__device__ __forceinline__ void add_parts(const MatmulArgs& p, const float* sums, bool vectors) {
  constexpr int across = P::columns / 4;
  __syncwarp();
  barrier_cluster_arrive();
  barrier_cluster_wait();
  const Place corner = place_of_tile<typename P::T>(p, blockIdx.x / P::split);
  const int rank = blockIdx.x % P::split;
  for (int i = rank * P::consumers + threadIdx.x; i < P::rows * across;
       i += P::split * P::consumers) {
    float4 total = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < P::split; ++r) {
      const float4 part = ld_shared_cluster(sums + 4 * i, r);
      total.x += part.x, total.y += part.y, total.z += part.z, total.w += part.w;
    }
    store_four(p, vectors, corner.row + i / across, corner.column + i % across * 4, total);
  }
  barrier_cluster_arrive();  // no block ends while others read its sums
  barrier_cluster_wait();
}

template <class P>
__global__ void __launch_bounds__(P::threads, P::blocks)
    persistent_kernel([[maybe_unused]] const __grid_constant__ CUtensorMap map_b,
                      [[maybe_unused]] MatmulArgs p, [[maybe_unused]] Schedule schedule,
                      [[maybe_unused]] float* parts, [[maybe_unused]] bool vectors) {
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
    if constexpr (P::registers_move) hopper::setmaxnreg_dec<40>();
    produce<P>(map_b, p, schedule, ring, warp - P::warps, lane);
    return;
  }
  if constexpr (P::registers_move) hopper::setmaxnreg_inc<232>();
  consume<P>(p, schedule, parts, ring, warp, lane, vectors);
  if constexpr (P::split > 1) add_parts<P>(p, ring.slabs, vectors);
#endif
}

template <class P>
int slabs_of_tile(const MatmulArgs& p) {
  return (p.k + P::depth - 1) / P::depth;
}

/// Encodes B's tensor map, after copying B into `room` if its rows are not aligned for TMA. Returns
/// false if the kernel must not be launched: the product is empty, or async_stages has
/// computed it, because k = 0 or the driver does not support tensor maps.
template <class P>
bool prepare(MatmulArgs& p, float* room, cudaStream_t stream, CUtensorMap& map_b) {
  if (p.m == 0 || p.n == 0) return false;
  if (p.k > 0 && !on_vectors(p.b, p.ldb)) align_b(p, room, stream);
  if (p.k > 0 && encode_floats(p.b, p.k, p.n, p.ldb, P::depth, P::columns, map_b)) return true;
  async_stages<2, 2, 8, 8, 16, 4, 3>(p, stream);
  return false;
}

/// Launches the kernel. `parts` has a tile for each block, and is needed if any block's work begins
/// inside a tile. The error stays for the caller's cudaGetLastError.
template <class P>
void launch_persistent(const CUtensorMap& map_b, const MatmulArgs& p, const Schedule& schedule,
                       float* parts, cudaStream_t stream) {
  const auto kernel = persistent_kernel<P>;
  if (allow_shared(kernel, P::bytes))
    launch_clusters(P::split, kernel, dim3(schedule.blocks), P::threads, P::bytes, stream, map_b, p,
                    schedule, parts, on_vectors(p.c, p.ldc));
}

}  // namespace recheck::kernels::matmul
