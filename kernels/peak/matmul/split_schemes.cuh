// SPDX-License-Identifier: Apache-2.0
#pragma once

// The schemes of split products, and the plans by which they run (split.cuh).

#include "../hopper.cuh"
#include "split_bound.hpp"

namespace recheck::kernels::matmul::split {

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

}  // namespace recheck::kernels::matmul::split
