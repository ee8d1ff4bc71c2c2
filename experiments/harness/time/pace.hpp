// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "../case/case.hpp"
#include "../table/method.hpp"

namespace recheck {

/// Predicts how long a launch will take from what launches of the same row took at other shapes, so
/// that minutes are not spent on a row that is too slow for a shape.
class Pace {
 public:
  Pace(const Settings& settings, const Gpu& gpu) : settings_(settings), gpu_(gpu) {}

  /// Remembers what a launch of a case took, in seconds.
  void note(const Case& c, double seconds);

  /// Why a case would take too long, by what is known of its row; where nothing is, by a launch at
  /// a smaller shape on `target`. Throws what that launch throws.
  std::optional<Result> too_slow(const Case& c, Target& target);

  /// Why a launch of so many seconds takes too long for so many budgets of sampling; nothing where
  /// it does not.
  [[nodiscard]] Reason too_long(double seconds, double budgets) const;

 private:
  std::optional<double> at(const Case& c, const Shape& small, Target& target) const;

  // seconds per Work::size(): the worst of launches that were long, the best of all since
  struct Known {
    double best, worst;
  };
  const Settings& settings_;
  const Gpu& gpu_;
  std::map<const Strategy*, Known> known_;
  // what a small shape of these proportions took
  std::map<std::pair<const Strategy*, Shape>, double> tried_;
};

/// Once a proof has shown how long it takes, this many times what was allowed for is let through:
/// predictions are rough, and a shared machine is slower than it was.
constexpr double most_budgets_of_a_proof = 4 * method.proof_budgets;

}  // namespace recheck
