// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../../experiments/harness/case/requirements.hpp"
#include "../../experiments/matmul/matmul.hpp"

namespace recheck::peak {

/// One way to fill A (m, k) and B (k, n), on which promises are held against errors. Row-major and
/// packed, so that leading dimensions are k and n.
struct Distribution {
  std::string_view name;
  /// A pure function of (seed, operand, index): make_input()'s numbers, transformed. k is even.
  std::vector<HostMatrix> (*make)(const Shape&, std::uint64_t seed);
};

std::span<const Distribution> distributions();

/// One input of products, for all rows: on the host, on the targets that were asked for, and its
/// truth: A · B in float64, of judged_rows() (promises.hpp).
///
/// A product of two fp32 numbers is exact in float64, and a sum of k of them is off by less than
/// k · 2^-53 of |A||B|: 7e-12 at k = 65536, where rounding the result to fp32 alone costs 6e-8. So
/// no compensated sum is needed to tell errors of fp32 apart.
class Trial {
 public:
  Trial(const Experiment& experiment, const Distribution& distribution, const Shape& shape,
        std::uint64_t seed);

  /// Launches a row once, as the harness would, and judges what it leaves behind: passed if within
  /// its bound. Throws nothing for what the row or the device does.
  Result run(const Strategy& strategy, Target& target, const Gpu& gpu);

  /// What one launch of a row leaves behind, (m, n). Throws what the launch throws.
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
  std::vector<std::int64_t> rows_;       // which rows are known
  std::vector<double> product_, scale_;  // (rows, n): A · B and |A||B| of those
  std::map<std::pair<Target*, Layout>, Stored> stored_;
};

}  // namespace recheck::peak
