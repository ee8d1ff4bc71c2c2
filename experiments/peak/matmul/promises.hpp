// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../../../kernels/peak/matmul/split_bound.hpp"
#include "../../harness/table/matrix.hpp"

namespace recheck::peak {

/// The rows of a product that are examined: all, or if there are more than 255, one of each band,
/// each at another place within its tile.
std::vector<std::int64_t> judged_rows(std::int64_t count);

/// Whether a split product's guard certainly stays down for inputs A (m, k) and B (k, n), by the
/// rules in kernels/matmul/matmul.hpp. fp16: all of a row and of a column are near enough to the
/// largest. bf16 and TF32: each element is in range.
bool fp16_holds(std::span<const HostMatrix> inputs);
bool bf16_holds(std::span<const HostMatrix> inputs);

/// Strassen's products: their guard is down if and only if no row or column is too uneven, or has
/// magnitudes that fp16 cannot scale. Then returns the largest k·R_i·C_j / (|A||B|)ij of
/// judged_rows(), which converts their bound to |A||B|; otherwise 0. The k of blocks' products must
/// not be too small.
double strassen_spread(std::span<const HostMatrix> inputs, int levels);

/// The promise of a row of split products (Strategy::promise). For inputs that `holds` accepts, or
/// without inputs, it is the scheme's own bound. Otherwise it is the larger of that and IEEE
/// fp32's, which its guard falls back on.
template <const kernels::matmul::SplitSums* sums, int interval, auto holds>
double promised(const Shape& shape, std::span<const HostMatrix> inputs) {
  namespace k = kernels::matmul;
  const bool own = inputs.empty() || holds(inputs);
  return own ? k::split_bound(*sums, interval, shape[2])
             : k::split_promise(*sums, interval, shape[2]);
}

/// The promise of a row of Strassen's products. Without inputs it promises nothing in |A||B|, and
/// the gate takes the bound of its arithmetic. Products with small k, and those whose inputs raise
/// its guard, are products of planes.
template <int levels, std::int64_t least_k>
double strassen_promised(const Shape& shape, std::span<const HostMatrix> inputs) {
  namespace k = kernels::matmul;
  const bool large = shape[2] >= least_k;
  if (large && inputs.empty()) return k::no_bound;
  const double spread = large ? strassen_spread(inputs, levels) : 0;
  return spread == 0 ? promised<&k::fp16x3_sums, 64, fp16_holds>(shape, inputs)
                     : spread * k::strassen_bound(k::fp16x3_sums, 64, levels, shape[2]);
}

}  // namespace recheck::peak
