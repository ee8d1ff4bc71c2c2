// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../experiments/harness/strategy.hpp"
#include "../../kernels/peak/matmul/split_bound.hpp"

namespace recheck::emulation {

/// The arithmetic of kernels/matmul/split_*.cu on the CPU, step by step: their planes, their guard,
/// and the tensor cores' sums as Hopper's have been measured (split_bound.hpp names the sources),
/// in the kernels' order; and of Strassen's products over fp16's. For bounds to be held against
/// without a GPU; slow.
enum class Scheme { fp16x3, bf16x6, tf32x3 };

/// What may be wrong with it, for a bound to catch: the last plane of A is left out; fp16's second
/// plane does without its factor of 2^12; the guard stays down whatever there is; a tensor core
/// aligns a factor of 0 as the least normal number; Strassen's sums are formed of rows and columns
/// that are not scaled one by one. Or, within the bound, subnormal factors of fp16
/// have their own exponent.
enum class Defect {
  none,
  plane_dropped,
  plane_unscaled,
  guard_ignored,
  zeros_aligned,
  lines_unscaled,
  subnormals_exact
};

/// Emulated rows, which promise what the kernels' rows of these names do: the three schemes first,
/// then other promotion intervals, then Strassen's products; and defective ones.
std::span<const Strategy> rows();
std::span<const Strategy> defective_rows();
/// Not defective, but no tensor core of Hopper's: see Defect::subnormals_exact.
const Strategy& subnormals_exact();
/// Defective on inputs of rows that differ, which no distribution has.
const Strategy& lines_unscaled();

}  // namespace recheck::emulation
