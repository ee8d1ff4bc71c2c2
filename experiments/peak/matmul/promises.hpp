// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../../../kernels/peak/matmul/split_bound.hpp"
#include "../../harness/table/inputs.hpp"

namespace recheck::peak {

/// Which of a product's rows are looked at: all, or of more than 255 one of each
/// band, each at another place within its tile.
std::vector<std::int64_t> judged_rows(std::int64_t count);

/// Whether inputs A (m, k) and B (k, n) are such that a split product's guard certainly stays down,
/// as kernels/matmul/matmul.hpp has it: fp16, where all of a row and of a column are near enough to
/// the largest; bf16 and TF32, where each element is in range.
bool fp16_holds(std::span<const HostMatrix> inputs);
bool bf16_holds(std::span<const HostMatrix> inputs);

/// The same of Strassen's products, where the guard is down if and only if no row or column is too
/// uneven, or has what fp16 cannot scale: then the largest k·R_i·C_j / (|A||B|)ij of judged_rows(),
/// which says what their bound is of |A||B|; else 0. The k of blocks' products is not too small.
double strassen_spread(std::span<const HostMatrix> inputs, int levels);

/// What a row of split products promises (Strategy::promise): on inputs that `holds`, or on no
/// particular ones, the scheme's own bound, else that or IEEE fp32's, which its guard falls back
/// on.
template <const kernels::matmul::SplitSums* sums, int interval, auto holds>
double promised(const Shape& shape, std::span<const HostMatrix> inputs) {
  namespace k = kernels::matmul;
  const bool own = inputs.empty() || holds(inputs);
  return own ? k::split_bound(*sums, interval, shape[2])
             : k::split_promise(*sums, interval, shape[2]);
}

/// The same of a row of Strassen's products: on no particular inputs it promises nothing of |A||B|,
/// and the gate takes what its arithmetic owes. Products of small k are those of planes, and so are
/// those on inputs that raise its guard.
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
