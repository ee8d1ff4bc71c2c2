// SPDX-License-Identifier: Apache-2.0
#pragma once

// The schemes of split products (split.cuh), their plans, and the sizes that follow from both.

#include "../wgmma.cuh"
#include "split_bound.hpp"

namespace recheck::kernels::matmul::split {

constexpr int tile_m = 128;
constexpr int consumers = 2;  // warpgroups
constexpr int gemm_threads = (consumers + 1) * 128;
constexpr int swizzle_alignment = 1024;

/// A scheme: the planes' type, and the order in which products of planes are summed. The digits of
/// a_planes and b_planes, lowest first, name the planes of product after product; the last one is
/// the main product, plane 0 of both. A conditional scheme's kernels do nothing unless a word in
/// device memory enables them.
struct Fp16x3 {
  static constexpr hopper::Type type = hopper::Type::f16;
  static constexpr int planes = 2, products = 3;
  static constexpr unsigned a_planes = 0x001, b_planes = 0x010;
  static constexpr float small_scale = 0x1p-12f;  // undoes the second plane's scale
  static constexpr int slabs_at_once = 2;
  static constexpr SplitSums sums = fp16x3_sums;
  static constexpr bool conditional = false;
};
struct Bf16x6 {
  static constexpr hopper::Type type = hopper::Type::bf16;
  static constexpr int planes = 3, products = 6;
  static constexpr unsigned a_planes = 0x001102, b_planes = 0x010120;
  static constexpr float small_scale = 1;
  static constexpr int slabs_at_once = 1;
  static constexpr SplitSums sums = bf16x6_sums;
  static constexpr bool conditional = false;
};
struct Tf32x3 {
  static constexpr hopper::Type type = hopper::Type::tf32;
  static constexpr int planes = 2, products = 3;
  static constexpr unsigned a_planes = 0x001, b_planes = 0x010;
  static constexpr float small_scale = 1;
  static constexpr int slabs_at_once = 2;
  static constexpr SplitSums sums = tf32x3_sums;
  static constexpr bool conditional = false;
};

/// How the small products are summed. first: in the main accumulator, before the main product of
/// the same slabs. apart: in accumulators of their own, after the main product, whose promotion
/// they hide. These are never promoted: they are 2^-12 of the sum, and so is their bias.
enum class Small { first, apart };

/// How a product runs: the width of its tile and the promotion interval along k (0: none).
template <int width, int promotion, Small small_products,
          bool turns = small_products == Small::first>
struct Plan {
  static constexpr int tile_n = width, interval = promotion;
  static constexpr Small small = small_products;
  static constexpr bool in_turn = turns;  // the warpgroups issue one after the other
};

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
  // bytes of 64 columns of B, all planes: one TMA load where rows run along n
  static constexpr int b_box = Scheme::planes * 64 * 64;
};

/// How many slabs along k are multiplied at once, and how many such groups a tile takes.
template <class Scheme, class Plan>
struct Groups {
  static constexpr int at_once = Plan::small == Small::apart ? 1 : Scheme::slabs_at_once;
  static constexpr int depth = at_once * Sizes<Scheme, Plan::tile_n>::depth;
  // the assumptions of the bound: wgmma takes 32 bytes along k
  static_assert(Scheme::sums.group == depth && Scheme::sums.small == Scheme::products - 1 &&
                Scheme::sums.step == 32 / Sizes<Scheme, Plan::tile_n>::element &&
                Scheme::sums.apart == (Plan::small == Small::apart));

  __device__ static int count(int k) { return (k + depth - 1) / depth; }
};

/// Whether a kernel has nothing to do: a conditional kernel works only if *only_if is not 0. The
/// word is final before the first of them starts.
template <bool conditional>
__device__ bool skipped([[maybe_unused]] const unsigned* only_if) {
  if constexpr (conditional) {
    hopper::griddepcontrol_wait();  // later kernels rely on all previous work
    return *only_if == 0;
  } else {
    return false;
  }
}

}  // namespace recheck::kernels::matmul::split
