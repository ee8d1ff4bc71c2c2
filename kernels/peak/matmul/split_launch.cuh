// SPDX-License-Identifier: Apache-2.0
#pragma once

// The host's side of split products (split.cuh): workspace, tensor maps, launches, fallback.

#include <algorithm>
#include <cstdint>

#include "../../launch.hpp"
#include "../tensor_map.hpp"
#include "split.cuh"
#include "split_fallback.hpp"
#include "split_planes_bf16_tf32.cuh"
#include "split_planes_fp16.cuh"

namespace recheck::kernels::matmul::split {

/// The layout of the workspace.
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

/// How the producer reads `planes` planes of A (m, k) and of B (k, n), all planes of a slab at
/// once. False if the driver refuses.
template <class Scheme, int tile_n>
bool encode_operands(int m, int n, int k, std::int64_t planes, const Planes& a_planes,
                     const Planes& b_planes, CUtensorMap& a_map, CUtensorMap& b_map) {
  using S = Sizes<Scheme, tile_n>;
  constexpr CUtensorMapDataType type =
      Scheme::type == hopper::Type::f16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
      : Scheme::type == hopper::Type::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                           : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const TensorSpec a{.type = type,
                     .element_bytes = S::element,
                     .base = a_planes.base,
                     .columns = k,
                     .rows = m,
                     .planes = planes,
                     .ld = a_planes.ld,
                     .plane = a_planes.plane,
                     .box_columns = S::depth,
                     .box_rows = tile_m,
                     .box_planes = Scheme::planes,
                     .swizzle = CU_TENSOR_MAP_SWIZZLE_64B};
  TensorSpec b = a;
  b.base = b_planes.base, b.ld = b_planes.ld, b.plane = b_planes.plane;
  if constexpr (S::k_major_b) {
    b.rows = n, b.box_rows = tile_n;
  } else {
    b.columns = n, b.rows = k;
    b.box_columns = 64, b.box_rows = S::depth;
    b.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  }
  return encode(a, a_map) && encode(b, b_map);
}

template <class Scheme, class Plan>
bool launch_multiply(const MatmulArgs& p, const Layout& l, int multiprocessors, cudaStream_t stream,
                     const unsigned* only_if) {
  constexpr int tile_n = Plan::tile_n;
  using S = Sizes<Scheme, tile_n>;
  CUtensorMap a_map, b_map;
  if (!encode_operands<Scheme, tile_n>(p.m, p.n, p.k, Scheme::planes, l.a, l.b, a_map, b_map))
    return false;
  const auto kernel = multiply<Scheme, Plan>;
  if (!allow_shared(kernel, S::shared)) return false;
  const std::int64_t tiles =
      static_cast<std::int64_t>((p.m + tile_m - 1) / tile_m) * ((p.n + tile_n - 1) / tile_n);
  const unsigned blocks = static_cast<unsigned>(tiles < multiprocessors ? tiles : multiprocessors);
  launch_behind(kernel, blocks, gemm_threads, S::shared, stream, a_map, b_map, p,
                State{l.guard, l.row_max, l.column_max, only_if});
  return true;
}

template <class Scheme>
void launch_planes(const MatmulArgs& p, const Layout& l, cudaStream_t stream,
                   [[maybe_unused]] const unsigned* only_if) {
  cudaMemsetAsync(l.guard, 0, l.cleared, stream);
  const bool aligned = on_vectors(p.a, p.lda) && on_vectors(p.b, p.ldb);
  const unsigned m = static_cast<unsigned>(p.m), k = static_cast<unsigned>(p.k);
  const auto over = [](int x, int y) { return static_cast<unsigned>((x + y - 1) / y); };
  if constexpr (Scheme::type == hopper::Type::f16) {
    const unsigned panels = over(p.k, scan_rows) * over(p.n, scan_columns);
    constexpr bool conditional = Scheme::conditional;
    const auto scan = aligned ? split_rows_scan_columns<true, conditional>
                              : split_rows_scan_columns<false, conditional>;
    scan<<<m + panels, scan_threads, 0, stream>>>(p, l.a, l.row_max, l.column_max, l.guard,
                                                  only_if);
    const auto split =
        aligned ? split_columns<true, conditional> : split_columns<false, conditional>;
    launch_behind(split, panels, scan_threads, 0, stream, p, l.b, l.column_max, l.guard, only_if);
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

/// A plan's expected cost, without a unit: waves of tiles over the multiprocessors, times the
/// tile's width plus a constant for the cost that does not depend on the width.
template <class Plan>
std::int64_t cost(const MatmulArgs& p, int multiprocessors) {
  const std::int64_t tiles = static_cast<std::int64_t>((p.m + tile_m - 1) / tile_m) *
                             ((p.n + Plan::tile_n - 1) / Plan::tile_n);
  return (tiles + multiprocessors - 1) / multiprocessors * (Plan::tile_n + 24);
}

/// The complete product: the pre-pass, the product by the cheapest of the plans, and the fallback,
/// which the device skips unless the guard is raised. The device skips a conditional scheme's
/// kernels altogether if *only_if, a word outside the workspace, is 0 once the previously queued
/// work is done.
template <class Scheme, class... Plans>
void product(const MatmulArgs& p, const Queue& queue, const unsigned* only_if = nullptr) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k < split_least_k) return ieee_if(nullptr, p, queue.stream);
  const int multiprocessors = kernels::multiprocessors();
  const Layout l = layout<Scheme>(p, queue.workspace);
  launch_planes<Scheme>(p, l, queue.stream, only_if);
  const std::int64_t least = std::min({cost<Plans>(p, multiprocessors)...});
  bool taken = false, launched = false;
  ((!taken && cost<Plans>(p, multiprocessors) == least
        ? (taken = true,
           launched = launch_multiply<Scheme, Plans>(p, l, multiprocessors, queue.stream, only_if))
        : false),
   ...);
  ieee_if(launched ? &l.guard->raised : only_if, p, queue.stream);
}

}  // namespace recheck::kernels::matmul::split
