// SPDX-License-Identifier: Apache-2.0
#pragma once

// The producer warps of persistent.cuh, and the ring of slabs that they fill.

#include "../hopper.cuh"
#include "schedule.hpp"
#include "warp_tile.cuh"

namespace recheck::kernels::matmul {

/// The ring of slabs with two mbarriers to a slot; its user's current slot and parity to wait for.
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

/// The i-th piece of this block.
template <class P>
__device__ Piece piece_of_block(const Schedule& schedule, int i) {
  if constexpr (P::split == 1) return schedule.piece(blockIdx.x, i);
  if (i > 0) return {0, 0, 0};
  return share(blockIdx.x / P::split, schedule.slabs, blockIdx.x % P::split, P::split);
}

/// The producers. One thread loads B by TMA. It orders the consumers' reads of the slot, of which
/// it has heard by the mbarrier, before TMA's writes: PTX ISA, "Proxy-preserved base causality
/// order", takes a proxy fence anywhere along the path from one to the other. A comes by cp.async:
/// a warp copies 8 words along k of each of 4 rows.
template <class P>
__device__ __forceinline__ void produce(const CUtensorMap& map_b, const MatmulArgs& p,
                                        const Schedule& schedule, Ring<P> ring, int warp,
                                        int lane) {
  constexpr int rows_at_once = 4 * P::producer_warps, passes = P::rows / rows_at_once;
  constexpr int pieces = P::depth / 8;  // of a row
  constexpr unsigned b_bytes = (P::slab_floats - P::a_floats) * sizeof(float);
  const int k_lane = lane % 8, row_lane = lane / 8 + warp * 4;
  const unsigned to_a = hopper::shared_address(ring.slabs) + 4 * (k_lane * P::a_pitch + row_lane);
  ring.phase = 1;                                // all slots are empty
  if (warp == 0) hopper::griddepcontrol_wait();  // B's copy, and the edges
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
        hopper::fence_proxy_async();
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
      hopper::cp_async_mbarrier_arrive_noinc(full);
      ring.advance();
    }
  }
}

}  // namespace recheck::kernels::matmul
