// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../../harness/requirements.hpp"
#include "../../matmul/matmul.hpp"
#include "distributions.hpp"

namespace recheck::peak {

/// How far a product C is from the truth R = A · B.
struct Errors {
  double frobenius;      // ‖C − R‖ / ‖R‖
  double componentwise;  // max |C − R| / (|A||B|)
  double median;         // of |C − R| / |R|
  double absolute;       // max |C − R|
  double bound = 0;      // that componentwise owes, by the row
};

/// The product of two matrices in float64: judged_rows() of it (promises.hpp).
///
/// A product of two fp32 numbers is exact in float64, and a sum of k of them is off by less than
/// k · 2^-53 of |A||B|: 7e-12 at k = 65536, where rounding the result to fp32 alone costs 6e-8. So
/// no compensated sum is needed to tell errors of fp32 apart.
class Truth {
 public:
  /// `inputs`: A (m, k) and B (k, n).
  explicit Truth(std::span<const HostMatrix> inputs);

  /// The errors of C (m, n), or which element is not finite though the truth is.
  [[nodiscard]] std::pair<std::optional<Errors>, Reason> errors(reference::MatrixView c) const;

  /// Whether C is what IEEE makes of these inputs: NaN and infinities where the truth, rounded to
  /// fp32, has them, and elsewhere within `bound` · |A||B| and what gradual underflow may cost.
  /// Else the first element that is not.
  [[nodiscard]] Reason mismatch(reference::MatrixView c, double bound) const;

 private:
  std::int64_t k_, n_;
  std::vector<std::int64_t> rows_;       // which rows are known
  std::vector<double> product_, scale_;  // (rows, n): A · B and |A||B| of those
};

/// What became of a row on one input. Special inputs have no errors.
struct Outcome {
  Status status;
  Reason reason;  // unless passed
  std::optional<Errors> errors = {};
};

/// One input of the study, for all rows: on the host, on the targets that were asked for, and its
/// truth.
class Trial {
 public:
  Trial(const Experiment& experiment, const Distribution& distribution, const Shape& shape,
        std::uint64_t seed);

  /// Launches a row once, as the harness would, and judges what it leaves behind: passed if within
  /// its bound. Throws nothing for what the row or the device does.
  Outcome run(const Strategy& strategy, Target& target, const Gpu& gpu);

  /// What one launch of a row leaves behind, (m, n). Throws what the launch throws.
  [[nodiscard]] std::vector<float> product(const Strategy& strategy, Target& target);

 private:
  struct Stored {
    Array a, b;
    std::int64_t lda;
  };
  Stored& store(Target& target, Layout layout);
  [[nodiscard]] double bound(const Strategy& strategy) const;

  Problem problem_;
  bool special_;
  Shape shape_;
  std::vector<HostMatrix> inputs_;
  Truth truth_;
  std::map<std::pair<Target*, Layout>, Stored> stored_;
};

}  // namespace recheck::peak
