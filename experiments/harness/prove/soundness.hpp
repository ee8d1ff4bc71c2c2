// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "../table/experiment.hpp"

namespace recheck {

/// Whether a check can be trusted. Every process finds out again: before anything passes, the check
/// must refuse spoiled versions of an output that it accepts.
class Soundness {
 public:
  /// The trial of a problem's check.
  static Soundness& of(const Problem& problem);

  /// A spoiled output that the check wrongly accepted, such as "whose last element is wrong".
  [[nodiscard]] const Reason& accepted() const { return accepted_; }

  /// Whether more outputs could reveal more.
  [[nodiscard]] bool open() const;

  /// Spoils each accepted output of real inputs, for sums of `terms` terms, in each way that has
  /// not been refused yet. `other` are the same row's outputs for other inputs.
  void hold(std::span<const View> right, std::span<const View> other, std::int64_t terms,
            const std::function<bool(std::span<const View>)>& accepts);

 private:
  std::set<std::pair<std::string_view, std::size_t>> refused_;
  std::size_t count_ = 1;  // number of outputs
  int tried_ = 0;          // number of proofs whose outputs were spoiled
  Reason accepted_;
};

}  // namespace recheck
