// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "../case/case.hpp"
#include "../table/method.hpp"

namespace recheck {

/// Predicts a launch's duration from launches of the same row at other shapes, so that no minutes
/// are spent on a row that is too slow for a shape.
class Pace {
 public:
  Pace(const Settings& settings, const Gpu& gpu) : settings_(settings), gpu_(gpu) {}

  /// Records the seconds of a case's launch.
  void note(const Case& c, double seconds);

  /// Why a case would take too long, from its row's known pace or, if none is known, from a launch
  /// at a smaller shape on `target`. Throws what that launch throws.
  std::optional<Result> too_slow(const Case& c, Target& target);

  /// Why a launch of this many seconds is too long for this many budgets of sampling; nothing if it
  /// is not.
  [[nodiscard]] Reason too_long(double seconds, double budgets) const;

 private:
  std::optional<double> at(const Case& c, const Shape& small, Target& target) const;

  // seconds per Work::size(): the slowest of long launches, and the fastest of all since
  struct Known {
    double best, worst;
  };
  const Settings& settings_;
  const Gpu& gpu_;
  std::map<const Strategy*, Known> known_;
  // pace at a small shape of these proportions
  std::map<std::pair<const Strategy*, Shape>, double> tried_;
};

/// A measured proof may exceed its predicted budget by this factor: predictions are rough, and a
/// shared machine may have slowed down.
constexpr double most_budgets_of_a_proof = 4 * method.proof_budgets;

}  // namespace recheck
