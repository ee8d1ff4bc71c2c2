// SPDX-License-Identifier: Apache-2.0
#pragma once

// The producer of split products (split.cuh), and the ring of slabs that it fills by TMA.

#include "split_schedule.cuh"

namespace recheck::kernels::matmul::split {

/// The ring of slabs in dynamic shared memory, (slots, slab), aligned as swizzled tiles need it.
__device__ __forceinline__ unsigned char* ring_of_slabs() {
  extern __shared__ unsigned char unaligned[];
  return unaligned + (-hopper::shared_address(unaligned) & (swizzle_alignment - 1));
}

/// The mbarriers of the ring's slots, and a consumer's current slot with its phase's parity.
template <int slots>
struct Ring {
  hopper::Mbarrier *full, *empty;
  int slot = 0;
  unsigned parity = 0;

  __device__ void advance() {
    if (++slot == slots) slot = 0, parity ^= 1;
  }
};

/// The producer, one thread: fills slot after slot with all planes of a slab of A and of B by TMA.
template <class Scheme, class Plan>
__device__ __forceinline__ void produce(const CUtensorMap& a_map, const CUtensorMap& b_map,
                                        const Tiles<Plan::tile_n>& tiles, int groups,
                                        unsigned* begun, hopper::Mbarrier* full,
                                        hopper::Mbarrier* empty) {
  using S = Sizes<Scheme, Plan::tile_n>;
  unsigned char* const slabs = ring_of_slabs();
  const int count = groups * Groups<Scheme, Plan>::at_once;
  Pace pace(begun, tiles.count, (count + leg - 1) / leg);
  unsigned slot = 0, parity = 0;
  for (int t = blockIdx.x; t < tiles.count; t += gridDim.x) {
    int row, column;
    tiles.corner(t, row, column);
    for (int s = 0; s < count; ++s) {
      if (s % leg == 0) pace.begin_leg();
      hopper::mbarrier_wait_parity(&empty[slot], parity ^ 1);
      hopper::mbarrier_arrive_expect_tx(&full[slot], S::slab);
      unsigned char* to = slabs + slot * S::slab;
      hopper::cp_async_bulk_tensor_3d_global_to_shared(to, &a_map, s * S::depth, row, 0,
                                                       &full[slot]);
      to += Scheme::planes * S::a_plane;
      if constexpr (S::k_major_b) {
        hopper::cp_async_bulk_tensor_3d_global_to_shared(to, &b_map, s * S::depth, column, 0,
                                                         &full[slot]);
      } else {
#pragma unroll
        for (int j = 0; j < Plan::tile_n / 64; ++j, to += S::b_box)
          hopper::cp_async_bulk_tensor_3d_global_to_shared(to, &b_map, column + 64 * j,
                                                           s * S::depth, 0, &full[slot]);
      }
      if (++slot == S::slots) slot = 0, parity ^= 1;
    }
  }
}

}  // namespace recheck::kernels::matmul::split
