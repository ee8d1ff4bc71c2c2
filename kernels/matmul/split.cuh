// SPDX-License-Identifier: Apache-2.0
#pragma once

// The product of two stacks of planes on Hopper's tensor cores, shared by the split rungs: each
// plane is a narrow matrix, their products are summed smallest first, and the whole is as accurate
// as an fp32 product. One persistent block per multiprocessor takes tile after tile: one warp keeps
// the copy engine (TMA) filling a ring of slabs with all planes of a piece of A and of B, two
// warpgroups multiply 64 rows each (wgmma).
//
// The tensor core cuts off what its fp32 accumulator cannot hold instead of rounding, a bias that
// grows with k. So every `interval` along k the accumulator starts from zero and what it held is
// added, rounded to nearest, to a second set of registers ("promotion"). Meanwhile the other
// warpgroup multiplies: they take turns in issuing, so that one's additions hide behind the other's
// products. Source of promotion: DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.3.2,
// there for fp8; of the bias and its cure: Ootomo and Yokota, IJHPCA 2022.

#include <algorithm>
#include <cstdint>

#include "../hopper.cuh"
#include "../launch.hpp"
#include "../tensor_map.hpp"
#include "split_fallback.hpp"
#include "split_planes.cuh"

namespace recheck::kernels::matmul::split {

/// A scheme: the planes' type, and which products of planes are summed in which order. The digits
/// of a_planes and b_planes, lowest first, name the planes of product after product; the last one
/// is the main product, plane 0 of both.
struct Fp16x3 {
  static constexpr hopper::Type type = hopper::Type::f16;
  static constexpr int planes = 2, products = 3;
  static constexpr unsigned a_planes = 0x001, b_planes = 0x010;
  static constexpr float small_scale = 0x1p-12f;  // what the small products still owe
  static constexpr int slabs_at_once = 2;
};
struct Bf16x6 {
  static constexpr hopper::Type type = hopper::Type::bf16;
  static constexpr int planes = 3, products = 6;
  static constexpr unsigned a_planes = 0x001102, b_planes = 0x010120;
  static constexpr float small_scale = 1;
  static constexpr int slabs_at_once = 1;
};
struct Tf32x3 {
  static constexpr hopper::Type type = hopper::Type::tf32;
  static constexpr int planes = 2, products = 3;
  static constexpr unsigned a_planes = 0x001, b_planes = 0x010;
  static constexpr float small_scale = 1;
  static constexpr int slabs_at_once = 2;
};

/// How the small products are summed: in the main accumulator, before the main product of the same
/// slabs; or apart from it, in registers of their own that are never promoted (they are 2^-12 of
/// the sum, and so is what truncation takes from them), and behind it, so that promotion of the
/// main product runs meanwhile.
enum class Small { first, apart };

/// How a product runs: the width of its tile and the promotion interval along k (0: none).
template <int width, int promotion, Small small_products,
          bool turns = small_products == Small::first>
struct Plan {
  static constexpr int tile_n = width, interval = promotion;
  static constexpr Small small = small_products;
  static constexpr bool in_turn = turns;  // the warpgroups issue one after the other
};

constexpr int tile_m = 128;
constexpr int band_tiles = 12;  // rows of tiles that run together, so that L2 serves their panels
constexpr int consumers = 2;    // warpgroups
constexpr int gemm_threads = (consumers + 1) * 128;
constexpr int swizzle_alignment = 1024;

/// Sizes that follow from a scheme and the tile's width. A slab is 64 bytes deep along k.
template <class Scheme, int tile_n>
struct Sizes {
  static constexpr int element = Scheme::type == hopper::Type::tf32 ? 4 : 2;
  static constexpr int depth = 64 / element;
  static constexpr bool k_major_b = Scheme::type == hopper::Type::tf32;
  static constexpr int a_plane = tile_m * 64, b_plane = tile_n * 64;  // bytes of a slab
  static constexpr int slab = Scheme::planes * (a_plane + b_plane);
  static constexpr int slots = (226 * 1024 - swizzle_alignment) / slab;
  static constexpr int shared = slots * slab + swizzle_alignment;
  // 64 columns of B, all planes: what one load brings where rows run along n
  static constexpr int b_box = Scheme::planes * 64 * 64;
};

/// What the kernel reads besides the maps.
struct State {
  Guard* guard;
  const unsigned *row_max, *column_max;  // fp16 only
};

template <class Scheme, class Plan>
__global__ void __launch_bounds__(gemm_threads, 1)
    multiply([[maybe_unused]] const __grid_constant__ CUtensorMap a_map,
             [[maybe_unused]] const __grid_constant__ CUtensorMap b_map,
             [[maybe_unused]] MatmulArgs p, [[maybe_unused]] State state) {
#ifdef RECHECK_WGMMA
  constexpr int tile_n = Plan::tile_n, interval = Plan::interval;
  constexpr bool apart = Plan::small == Small::apart;
  using S = Sizes<Scheme, tile_n>;
  constexpr bool scaled = Scheme::type == hopper::Type::f16;
  constexpr int values = tile_n / 2;  // of a thread

  hopper::griddepcontrol_launch_dependents();
  hopper::griddepcontrol_wait();
  const bool guarded = raised(*state.guard, p.k);
  if (blockIdx.x == 0 && threadIdx.x == 0) state.guard->raised = guarded;
  if (guarded) return;

  extern __shared__ unsigned char unaligned[];
  __shared__ hopper::Mbarrier full[S::slots], empty[S::slots];
  // swizzled tiles start where the pattern does
  unsigned char* const slabs =
      unaligned + (-hopper::shared_address(unaligned) & (swizzle_alignment - 1));
  if (threadIdx.x == 0) {
    for (int i = 0; i < S::slots; ++i) {
      hopper::mbarrier_init(&full[i], 1);
      hopper::mbarrier_init(&empty[i], 4 * consumers);  // a lane of each consuming warp
    }
    hopper::fence_mbarrier_init();
  }
  __syncthreads();

  const int tiles_m = (p.m + tile_m - 1) / tile_m, tiles_n = (p.n + tile_n - 1) / tile_n;
  const int tiles = tiles_m * tiles_n;
  // tiles in bands of rows, down first: blocks that run together share panels of A and of B
  const auto corner = [&](int t, int& row, int& column) {
    const int band = t / (band_tiles * tiles_n), first = band * band_tiles;
    const int height = min(band_tiles, tiles_m - first), rest = t - first * tiles_n;
    row = (first + rest % height) * tile_m;
    column = rest / height * tile_n;
  };
  // slabs of 64 bytes along k, in groups that are multiplied at once
  constexpr int at_once = apart ? 1 : Scheme::slabs_at_once, group_depth = at_once * S::depth;
  const int groups = (p.k + group_depth - 1) / group_depth;
  const int warpgroup = threadIdx.x / 128, lane = threadIdx.x % 32;

  if (warpgroup == consumers) {
    hopper::setmaxnreg_dec<24>();
    if (threadIdx.x % 128 == 0) {
      int slot = 0;
      unsigned phase = 0;
      for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        int row, column;
        corner(t, row, column);
        for (int s = 0; s < groups * at_once; ++s) {
          hopper::mbarrier_wait_parity(&empty[slot], phase ^ 1);
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
            for (int j = 0; j < tile_n / 64; ++j)
              hopper::cp_async_bulk_tensor_3d_global_to_shared(
                  to + j * S::b_box, &b_map, column + 64 * j, s * S::depth, 0, &full[slot]);
          }
          if (++slot == S::slots) slot = 0, phase ^= 1;
        }
      }
    }
    return;
  }

  hopper::setmaxnreg_inc<240>();
  const std::uint32_t base = hopper::shared_address(slabs);
  constexpr bool in_turn = Plan::in_turn;
  const int my_turn = 1 + warpgroup, other_turn = 2 - warpgroup;
  const auto take_turn = [&] {
    if constexpr (in_turn) hopper::bar_sync(my_turn, 128 * consumers);
  };
  const auto end_turn = [&] {
    if constexpr (in_turn) hopper::bar_arrive(other_turn, 128 * consumers);
  };
  if (warpgroup == 1) end_turn();  // the first turn is warpgroup 0's

  // issues product number i of the slab in `slot` into d, step by step of 32 bytes along k
  const auto issue = [&](float(&d)[values], int slot, int i, int step, bool fresh) {
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
    hopper::wgmma_mma_async<Scheme::type, tile_n>(d, da, db, !fresh);
  };
  const auto give_back = [&](int slot) {
    if (lane == 0) hopper::mbarrier_arrive(&empty[slot]);
  };

  int slot = 0;
  unsigned phase = 0;
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    float main[values];
    float sum[interval ? values : 1] = {};
    float rest[apart ? values : 1];
    const auto promote = [&] {
#pragma unroll
      for (int i = 0; i < (interval ? values : 0); ++i) sum[i] += main[i];
    };
    if constexpr (apart) {
      // parts of a slab: one, or two where the interval is a single step
      constexpr int parts = interval == 16 ? 2 : 1, steps = 2 / parts;
      constexpr int slabs_per_interval = interval / 32;
      static_assert(interval == 16 || interval % 32 == 0);
      int previous = -1, since = 0;
      for (int g = 0; g < groups; ++g) {
        hopper::mbarrier_wait_parity(&full[slot], phase);
#pragma unroll
        for (int part = 0; part < parts; ++part) {
          const bool fresh = slabs_per_interval <= 1 && interval ? true : since == 0;
          take_turn();
          hopper::warpgroup_fence_operand(main);
          hopper::wgmma_fence();
#pragma unroll
          for (int step = 0; step < steps; ++step)
            issue(main, slot, Scheme::products - 1, part * steps + step, fresh && step == 0);
          hopper::wgmma_commit_group();
#pragma unroll
          for (int step = 0; step < steps; ++step)
#pragma unroll
            for (int i = 0; i + 1 < Scheme::products; ++i)
              issue(rest, slot, i, part * steps + step, g + part + step + i == 0);
          hopper::wgmma_commit_group();
          end_turn();
          // the main product is done, and with it all of the slab before
          hopper::wgmma_wait_group<1>();
          hopper::warpgroup_fence_operand(main);
          if (part == 0 && previous >= 0) give_back(previous);
          if constexpr (slabs_per_interval <= 1) {
            promote();
            since = interval ? 0 : 1;
          } else if (++since == slabs_per_interval || g + 1 == groups) {
            since = 0;
            promote();
          }
        }
        previous = slot;
        if (++slot == S::slots) slot = 0, phase ^= 1;
      }
      hopper::wgmma_wait_group<0>();
      hopper::warpgroup_fence_operand(main);
      hopper::warpgroup_fence_operand(rest);
      give_back(previous);
    } else {
      constexpr int groups_per_interval = interval / group_depth;  // 0: one accumulator throughout
      static_assert(interval % group_depth == 0 && (!scaled || groups_per_interval == 1));
      int since = 0;  // groups since the accumulator was promoted
      for (int g = 0; g < groups; ++g) {
        const bool fresh = groups_per_interval == 1 || since == 0;
        int slots[at_once];
#pragma unroll
        for (int s = 0; s < at_once; ++s) {
          slots[s] = slot;
          hopper::mbarrier_wait_parity(&full[slot], phase);
          if (++slot == S::slots) slot = 0, phase ^= 1;
        }
        take_turn();
        hopper::warpgroup_fence_operand(main);
        hopper::wgmma_fence();
#pragma unroll
        for (int s = 0; s < at_once; ++s)
#pragma unroll
          for (int i = 0; i + 1 < Scheme::products; ++i)
#pragma unroll
            for (int step = 0; step < 2; ++step)
              issue(main, slots[s], i, step, fresh && s + i + step == 0);
        if constexpr (scaled) {
          hopper::wgmma_commit_group();
          end_turn();
          hopper::wgmma_wait_group<0>();
          hopper::warpgroup_fence_operand(main);
          // the small products are 2^12 too large: bring them down, the main one comes on top
#pragma unroll
          for (int i = 0; i < values; ++i) main[i] *= Scheme::small_scale;
          take_turn();
          hopper::warpgroup_fence_operand(main);
          hopper::wgmma_fence();
        }
#pragma unroll
        for (int s = 0; s < at_once; ++s)
#pragma unroll
          for (int step = 0; step < 2; ++step)
            issue(main, slots[s], Scheme::products - 1, step, false);
        hopper::wgmma_commit_group();
        end_turn();
        hopper::wgmma_wait_group<0>();
        hopper::warpgroup_fence_operand(main);
#pragma unroll
        for (int s = 0; s < at_once; ++s) give_back(slots[s]);
        ++since;
        if (groups_per_interval == 1 || since == groups_per_interval || g + 1 == groups) {
          since = interval ? 0 : since;
          promote();
        }
      }
    }

    int row, column;
    corner(t, row, column);
    row += warpgroup * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
    column += lane % 4 * 2;
    const bool pairs = p.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(p.c) % 8 == 0;
    const auto total = [&](int i) {
      float value = interval ? sum[interval ? i : 0] : main[i];
      if constexpr (apart) value = fmaf(rest[i], Scheme::small_scale, value);
      return value;
    };
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int y = row + 8 * half;
      if (y >= p.m) break;
      float row_scale = 1;
      if constexpr (scaled) row_scale = scale_down(state.row_max[y]);
      float* const c = p.c + y * p.ldc;
#pragma unroll
      for (int j = 0; j < values / 4; ++j) {
        const int x = column + 8 * j;
        float first = total(4 * j + 2 * half), second = total(4 * j + 2 * half + 1);
        if constexpr (scaled) {
          // both powers of two, one after the other: only a subnormal result is rounded again
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
  if (warpgroup == 0) take_turn();  // nobody leaves with a turn handed to him
#endif
}

/// Where things are in the workspace.
struct Layout {
  Guard* guard;
  unsigned *column_max, *row_max;
  Planes a, b;
  std::int64_t cleared;  // bytes to clear, from guard on
};

template <class Scheme>
Layout layout(const MatmulArgs& p, float* workspace) {
  using S = Sizes<Scheme, 128>;
  const auto up = [](std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; };
  auto* at = reinterpret_cast<unsigned char*>(
      up(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(workspace)), 256));
  Layout l;
  l.guard = reinterpret_cast<Guard*>(at);
  l.column_max = reinterpret_cast<unsigned*>(at + 256);
  l.cleared = 256 + 4 * static_cast<std::int64_t>(p.n);
  l.row_max = l.column_max + up(p.n, 64);
  at = reinterpret_cast<unsigned char*>(l.row_max + up(p.m, 64));
  constexpr int pad = 16 / S::element;
  l.a = {at, up(p.k, pad), p.m * up(p.k, pad)};
  at += up(Scheme::planes * l.a.plane * S::element, 256);
  const std::int64_t rows = S::k_major_b ? p.n : p.k, columns = S::k_major_b ? p.k : p.n;
  l.b = {at, up(columns, pad), rows * up(columns, pad)};
  return l;
}

/// Below this k the products of a few elements must each be right to the last bit, and the IEEE
/// kernel takes over; there is no time to lose.
constexpr int least_k = 32;

template <class Scheme, class Plan>
bool launch_multiply(const MatmulArgs& p, const Layout& l, int multiprocessors,
                     cudaStream_t stream) {
  constexpr int tile_n = Plan::tile_n;
  using S = Sizes<Scheme, tile_n>;
  constexpr CUtensorMapDataType type =
      Scheme::type == hopper::Type::f16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
      : Scheme::type == hopper::Type::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                           : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const TensorSpec a{.type = type,
                     .element_bytes = S::element,
                     .base = l.a.base,
                     .columns = p.k,
                     .rows = p.m,
                     .planes = Scheme::planes,
                     .ld = l.a.ld,
                     .plane = l.a.plane,
                     .box_columns = S::depth,
                     .box_rows = tile_m,
                     .box_planes = Scheme::planes,
                     .swizzle = CU_TENSOR_MAP_SWIZZLE_64B};
  TensorSpec b = a;
  b.base = l.b.base, b.ld = l.b.ld, b.plane = l.b.plane;
  if constexpr (S::k_major_b) {
    b.rows = p.n, b.box_rows = tile_n;
  } else {
    b.columns = p.n, b.rows = p.k;
    b.box_columns = 64, b.box_rows = S::depth;
    b.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  }
  CUtensorMap a_map, b_map;
  if (!encode(a, a_map) || !encode(b, b_map)) return false;
  const auto kernel = multiply<Scheme, Plan>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::shared);
  const std::int64_t tiles =
      static_cast<std::int64_t>((p.m + tile_m - 1) / tile_m) * ((p.n + tile_n - 1) / tile_n);
  const unsigned blocks = static_cast<unsigned>(tiles < multiprocessors ? tiles : multiprocessors);
  launch_behind(kernel, blocks, gemm_threads, S::shared, stream, a_map, b_map, p,
                State{l.guard, l.row_max, l.column_max});
  return true;
}

template <class Scheme>
void launch_planes(const MatmulArgs& p, const Layout& l, cudaStream_t stream) {
  cudaMemsetAsync(l.guard, 0, l.cleared, stream);
  const bool aligned = on_vectors(p.a, p.lda) && on_vectors(p.b, p.ldb);
  const unsigned m = static_cast<unsigned>(p.m), k = static_cast<unsigned>(p.k);
  const auto over = [](int x, int y) { return static_cast<unsigned>((x + y - 1) / y); };
  if constexpr (Scheme::type == hopper::Type::f16) {
    const unsigned panels = over(p.k, scan_rows) * over(p.n, scan_columns);
    const auto scan = aligned ? split_rows_scan_columns<true> : split_rows_scan_columns<false>;
    scan<<<m + panels, scan_threads, 0, stream>>>(p, l.a, l.row_max, l.column_max, l.guard);
    const auto split = aligned ? split_columns<true> : split_columns<false>;
    launch_behind(split, panels, scan_threads, 0, stream, p, l.b, l.column_max, l.guard);
  } else {
    constexpr bool bf16 = Scheme::type == hopper::Type::bf16;
    const auto split = aligned ? split_elements<bf16, true> : split_elements<bf16, false>;
    split<<<bf16 ? m + k : m, scan_threads, 0, stream>>>(p, l.a, l.b, l.guard);
    constexpr int flip_rows = 8;
    if constexpr (!bf16)
      launch_behind(split_transposed<flip_rows>, over(p.k, flip_tile) * over(p.n, flip_tile),
                    flip_tile * flip_rows, 0, stream, p, l.b, l.guard);
  }
}

/// What a plan is expected to cost: rounds of tiles over the multiprocessors, times their width and
/// what every tile pays however narrow it is.
template <class Plan>
std::int64_t cost(const MatmulArgs& p, int multiprocessors) {
  const std::int64_t tiles = static_cast<std::int64_t>((p.m + tile_m - 1) / tile_m) *
                             ((p.n + Plan::tile_n - 1) / Plan::tile_n);
  return (tiles + multiprocessors - 1) / multiprocessors * (Plan::tile_n + 24);
}

/// The whole: planes, product by the cheapest of the plans, and the IEEE kernel behind.
template <class Scheme, class... Plans>
void product(const MatmulArgs& p, const Queue& queue) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k < least_k) return ieee_if(nullptr, p, queue.stream);
  const int multiprocessors = kernels::multiprocessors();
  const Layout l = layout<Scheme>(p, queue.workspace);
  launch_planes<Scheme>(p, l, queue.stream);
  const std::int64_t least = std::min({cost<Plans>(p, multiprocessors)...});
  bool taken = false, launched = false;
  ((!taken && cost<Plans>(p, multiprocessors) == least
        ? (taken = true,
           launched = launch_multiply<Scheme, Plans>(p, l, multiprocessors, queue.stream))
        : false),
   ...);
  ieee_if(launched ? &l.guard->raised : nullptr, p, queue.stream);
}

}  // namespace recheck::kernels::matmul::split
