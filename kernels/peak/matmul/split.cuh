// SPDX-License-Identifier: Apache-2.0
#pragma once

// The product of two stacks of planes on Hopper's tensor cores, shared by the split kernels. Each
// plane is a narrow matrix, and the planes' products are summed smallest first; split_bound.hpp
// gives the error bound. One persistent block per multiprocessor takes tile after tile. A producer
// fills a ring of slabs by TMA, each with all planes of a piece of A and of B, and two consumer
// warpgroups multiply 64 rows each (wgmma).
//
// The tensor core truncates instead of rounding when its fp32 accumulator cannot hold a sum, a bias
// that grows with k. So every `interval` along k the accumulator is added, rounded to nearest, to a
// second set of registers and starts again from zero ("promotion"). The warpgroups take turns in
// issuing wgmma, so that the additions of one run during the products of the other. Source of
// promotion: DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.3.2, there for fp8; of the
// bias and its cure: Ootomo and Yokota, IJHPCA 2022.

#include <cstdint>

#include "../wgmma.cuh"
#include "split_loads.cuh"
#include "split_planes.cuh"

namespace recheck::kernels::matmul::split {

/// What the kernel reads in addition to the planes.
struct State {
  Guard* guard;
  const unsigned *row_max, *column_max;  // fp16 only
  const unsigned* only_if;               // conditional schemes only
};

/// A thread's accumulators: `main`, to which wgmma adds; `sum`, to which `main` is promoted, if at
/// all; `rest`, the small products, if they are summed apart.
template <class Scheme, class Plan>
struct Accumulators {
  static constexpr int values = Plan::tile_n / 2;
  static constexpr bool apart = Plan::small == Small::apart, promoted = Plan::interval != 0;
  float main[values];
  float sum[promoted ? values : 1] = {};
  float rest[apart ? values : 1];

  __device__ __forceinline__ void promote() {
#pragma unroll
    for (int i = 0; i < (promoted ? values : 0); ++i) sum[i] += main[i];
  }
  /// Value i of this thread's product, with all its parts added.
  __device__ __forceinline__ float total(int i) const {
    float value = promoted ? sum[promoted ? i : 0] : main[i];
    if constexpr (apart) value = fmaf(rest[i], Scheme::small_scale, value);
    return value;
  }
};

/// One of the two consumer warpgroups, which computes 64 rows of each tile.
template <class Scheme, class Plan>
struct Consumer {
  using S = Sizes<Scheme, Plan::tile_n>;
  using Sums = Accumulators<Scheme, Plan>;
  using G = Groups<Scheme, Plan>;
  static constexpr int interval = Plan::interval;
  Ring<S::slots> ring;
  const int warpgroup, lane;
  std::uint32_t base;                                       // of the slabs, a shared address
  int my_turn = 1 + warpgroup, other_turn = 2 - warpgroup;  // named barriers

  /// Waits until the other warpgroup has ended its turn. CUTLASS: OrderedSequenceBarrier.
  __device__ __forceinline__ void take_turn() const {
    if constexpr (Plan::in_turn) hopper::bar_sync(my_turn, 128 * consumers);
  }
  __device__ __forceinline__ void end_turn() const {
    if constexpr (Plan::in_turn) hopper::bar_arrive(other_turn, 128 * consumers);
  }

  /// Issues wgmma of product i of the slab in `slot`, over 32 bytes along k from 32·`step` on, into
  /// d, which starts from zero if `fresh`.
  __device__ __forceinline__ void issue(float (&d)[Sums::values], int slot, int i, int step,
                                        bool fresh) const {
    const std::uint32_t a = base + slot * S::slab + (Scheme::a_planes >> 4 * i & 15) * S::a_plane +
                            warpgroup * 64 * 64 + 32 * step;
    const std::uint32_t b = base + slot * S::slab + Scheme::planes * S::a_plane;
    const unsigned plane = Scheme::b_planes >> 4 * i & 15;
    const std::uint64_t da = hopper::matrix_descriptor(a, 16, 512, hopper::Swizzle::bytes64);
    const std::uint64_t db =
        S::k_major_b ? hopper::matrix_descriptor(b + plane * S::b_plane + 32 * step, 16, 512,
                                                 hopper::Swizzle::bytes64)
                     : hopper::matrix_descriptor(b + plane * 64 * 64 + step * 16 * 128, S::b_box,
                                                 1024, hopper::Swizzle::bytes128);
    hopper::wgmma_mma_async<Scheme::type, Plan::tile_n>(d, da, db, !fresh);
  }

  /// Lets the producer fill a slot again.
  __device__ __forceinline__ void release(int slot) const {
    if (lane == 0) hopper::mbarrier_arrive(&ring.empty[slot]);
  }

  /// The main loop of a tile where the small products are summed apart. Promotes `main` while the
  /// small products of the same slab are still in flight. These start from zero if `fresh_rest`,
  /// otherwise from the values of `rest`. between(g) is called once the slab before g's is
  /// released.
  template <class Between>
  __device__ __forceinline__ void multiply_apart(Sums& sums, int groups, bool fresh_rest,
                                                 Between between) {
    // parts of a slab: one, or two where the interval is a single step
    constexpr int parts = interval == 16 ? 2 : 1, steps = 2 / parts;
    constexpr int slabs_per_interval = interval / 32;
    static_assert(interval == 16 || interval % 32 == 0);
    int previous = -1, since = 0;
    for (int g = 0; g < groups; ++g) {
      hopper::mbarrier_wait_parity(&ring.full[ring.slot], ring.parity);
#pragma unroll
      for (int part = 0; part < parts; ++part) {
        const bool fresh = slabs_per_interval <= 1 && interval ? true : since == 0;
        take_turn();
        hopper::warpgroup_fence_operand(sums.main);
        hopper::wgmma_fence();
#pragma unroll
        for (int step = 0; step < steps; ++step)
          issue(sums.main, ring.slot, Scheme::products - 1, part * steps + step,
                fresh && step == 0);
        hopper::wgmma_commit_group();
#pragma unroll
        for (int step = 0; step < steps; ++step)
#pragma unroll
          for (int i = 0; i + 1 < Scheme::products; ++i)
            issue(sums.rest, ring.slot, i, part * steps + step,
                  fresh_rest && g + part + step + i == 0);
        hopper::wgmma_commit_group();
        end_turn();
        // all but the small products have completed: the main one, and all of the previous slab
        hopper::wgmma_wait_group<1>();
        hopper::warpgroup_fence_operand(sums.main);
        if (part == 0 && previous >= 0) release(previous);
        if (part == 0) between(g);
        if constexpr (slabs_per_interval <= 1) {
          sums.promote();
          since = interval ? 0 : 1;
        } else if (++since == slabs_per_interval || g + 1 == groups) {
          since = 0;
          sums.promote();
        }
      }
      previous = ring.slot;
      ring.advance();
    }
    hopper::wgmma_wait_group<0>();
    hopper::warpgroup_fence_operand(sums.main);
    hopper::warpgroup_fence_operand(sums.rest);
    release(previous);
  }

  /// The main loop of a tile where the small products are summed first.
  __device__ __forceinline__ void multiply_first(Sums& sums, int groups) {
    constexpr bool scaled = Scheme::type == hopper::Type::f16;
    constexpr int groups_per_interval = interval / G::depth;  // 0: one accumulator throughout
    static_assert(interval % G::depth == 0 && (!scaled || groups_per_interval == 1));
    // since: groups since the accumulator was promoted
    for (int g = 0, since = 0; g < groups; ++g) {
      const bool fresh = groups_per_interval == 1 || since == 0;
      int slots[G::at_once];
#pragma unroll
      for (int s = 0; s < G::at_once; ++s) {
        slots[s] = ring.slot;
        hopper::mbarrier_wait_parity(&ring.full[ring.slot], ring.parity);
        ring.advance();
      }
      take_turn();
      hopper::warpgroup_fence_operand(sums.main);
      hopper::wgmma_fence();
#pragma unroll
      for (int s = 0; s < G::at_once; ++s)
#pragma unroll
        for (int i = 0; i + 1 < Scheme::products; ++i)
#pragma unroll
          for (int step = 0; step < 2; ++step)
            issue(sums.main, slots[s], i, step, fresh && s + i + step == 0);
      if constexpr (scaled) {
        hopper::wgmma_commit_group();
        end_turn();
        hopper::wgmma_wait_group<0>();
        hopper::warpgroup_fence_operand(sums.main);
        // the small products are 2^12 too large: scale them down before the main one is added
#pragma unroll
        for (int i = 0; i < Sums::values; ++i) sums.main[i] *= Scheme::small_scale;
        take_turn();
        hopper::warpgroup_fence_operand(sums.main);
        hopper::wgmma_fence();
      }
#pragma unroll
      for (int s = 0; s < G::at_once; ++s)
#pragma unroll
        for (int step = 0; step < 2; ++step)
          issue(sums.main, slots[s], Scheme::products - 1, step, false);
      hopper::wgmma_commit_group();
      end_turn();
      hopper::wgmma_wait_group<0>();
      hopper::warpgroup_fence_operand(sums.main);
#pragma unroll
      for (int s = 0; s < G::at_once; ++s) release(slots[s]);
      ++since;
      if (groups_per_interval == 1 || since == groups_per_interval || g + 1 == groups) {
        since = interval ? 0 : since;
        sums.promote();
      }
    }
  }

  /// The epilogue: a tile's sums, scaled back, into C.
  __device__ __forceinline__ void store(const Sums& sums, const MatmulArgs& p, const State& state,
                                        int row, int column) const {
    constexpr bool scaled = Scheme::type == hopper::Type::f16;
    row += warpgroup * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
    column += lane % 4 * 2;
    const bool pairs = p.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(p.c) % 8 == 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int y = row + 8 * half;
      if (y >= p.m) break;
      float row_scale = 1;
      if constexpr (scaled) row_scale = scale_down(state.row_max[y]);
      float* const c = p.c + y * p.ldc;
#pragma unroll
      for (int j = 0; j < Sums::values / 4; ++j) {
        const int x = column + 8 * j;
        float first = sums.total(4 * j + 2 * half), second = sums.total(4 * j + 2 * half + 1);
        if constexpr (scaled) {
          // powers of two, one after the other, so that only a subnormal result is rounded again
          if (x < p.n) first = first * row_scale * scale_down(state.column_max[x]);
          if (x + 1 < p.n) second = second * row_scale * scale_down(state.column_max[x + 1]);
        }
        if (pairs && x + 1 < p.n) {
          *reinterpret_cast<float2*>(c + x) = {first, second};
        } else {
          if (x < p.n) c[x] = first;
          if (x + 1 < p.n) c[x + 1] = second;
        }
      }
    }
  }

  /// Tile after tile: main loop and epilogue.
  __device__ __forceinline__ void consume(const MatmulArgs& p, const State& state,
                                          const Tiles<Plan::tile_n>& tiles, int groups) {
    if (warpgroup == 1) end_turn();  // the first turn is warpgroup 0's
    for (int t = blockIdx.x; t < tiles.count; t += gridDim.x) {
      Sums sums;
      if constexpr (Sums::apart)
        multiply_apart(sums, groups, true, [](int) {});
      else
        multiply_first(sums, groups);
      int row, column;
      tiles.corner(t, row, column);
      store(sums, p, state, row, column);
    }
    if (warpgroup == 0) take_turn();  // pairs with the other's last end_turn()
  }
};

template <class Scheme, class Plan>
__global__ void __launch_bounds__(gemm_threads, 1)
    multiply([[maybe_unused]] const __grid_constant__ CUtensorMap a_map,
             [[maybe_unused]] const __grid_constant__ CUtensorMap b_map,
             [[maybe_unused]] MatmulArgs p, [[maybe_unused]] State state) {
#ifdef RECHECK_WGMMA
  using S = Sizes<Scheme, Plan::tile_n>;
  using G = Groups<Scheme, Plan>;
  hopper::griddepcontrol_launch_dependents();
  hopper::griddepcontrol_wait();
  if (skipped<Scheme::conditional>(state.only_if)) return;
  const bool guarded = raised(*state.guard, p.k);
  if (blockIdx.x == 0 && threadIdx.x == 0) state.guard->raised = guarded;
  if (guarded) return;

  __shared__ hopper::Mbarrier full[S::slots], empty[S::slots];
  if (threadIdx.x == 0) {
    for (int i = 0; i < S::slots; ++i) {
      hopper::mbarrier_init(&full[i], 1);
      hopper::mbarrier_init(&empty[i], 4 * consumers);  // a lane of each consuming warp
    }
    hopper::fence_mbarrier_init();
  }
  __syncthreads();

  const Tiles<Plan::tile_n> tiles(p);
  const int groups = G::count(p.k);
  const int warpgroup = threadIdx.x / 128, lane = threadIdx.x % 32;
  if (warpgroup == consumers) {
    hopper::setmaxnreg_dec<24>();
    if (threadIdx.x % 128 == 0)
      produce<Scheme, Plan>(a_map, b_map, tiles, groups, &state.guard->begun, full, empty);
    return;
  }
  hopper::setmaxnreg_inc<240>();
  Consumer<Scheme, Plan> consumer = {
      {full, empty}, warpgroup, lane, hopper::shared_address(ring_of_slabs())};
  consumer.consume(p, state, tiles, groups);
#endif
}

}  // namespace recheck::kernels::matmul::split
