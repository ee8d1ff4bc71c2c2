// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../../experiments/harness/case/requirements.hpp"
#include "../../experiments/harness/prove/inputs.hpp"
#include "../../experiments/matmul/matmul.hpp"

namespace recheck::peak {

/// One way to fill A (m, k) and B (k, n), to compare errors with promises. Row-major and packed, so
/// the leading dimensions are k and n.
struct Distribution {
  std::string_view name;
  /// A pure function of (seed, operand, index): transformed numbers of make_input(). k is even.
  std::vector<HostMatrix> (*make)(const Shape&, std::uint64_t seed);
};

std::span<const Distribution> distributions();

/// One input of products, for all rows: on the host, on the targets used, and its truth: A · B in
/// float64, for judged_rows() (promises.hpp).
///
/// A product of two fp32 numbers is exact in float64, and a sum of k of them is off by less than k
/// · 2^-53 of |A||B|: 7e-12 at k = 65536. Rounding the result to fp32 alone costs 6e-8. So fp32's
/// errors can be measured without compensated sums.
class Trial {
 public:
  Trial(const Experiment& experiment, const Distribution& distribution, const Shape& shape,
        std::uint64_t seed);

  /// Launches a row once, as the harness would, and judges its output: passed if within its bound.
  /// Never throws because of the row or the device.
  Result run(const Strategy& strategy, Target& target, const Gpu& gpu);

  /// The output (m, n) of one launch of a row. Throws what the launch throws.
  [[nodiscard]] std::vector<float> product(const Strategy& strategy, Target& target);

 private:
  struct Stored {
    Array a, b;
    std::int64_t lda;
  };
  Stored& store(Target& target, Layout layout);
  [[nodiscard]] double bound(const Strategy& strategy) const;
  [[nodiscard]] Reason mismatch(const std::vector<float>& c, double bound) const;

  Problem problem_;
  Shape shape_;
  std::vector<HostMatrix> inputs_;
  std::vector<std::int64_t> rows_;       // the judged rows
  std::vector<double> product_, scale_;  // (rows, n): A · B and |A||B| of those
  std::map<std::pair<Target*, Layout>, Stored> stored_;
};

}  // namespace recheck::peak
