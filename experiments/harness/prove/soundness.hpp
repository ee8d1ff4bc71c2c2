// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "../table/experiment.hpp"

namespace recheck {

/// Whether a check can be believed, found out anew by every process: before anything passes by it,
/// it has to refuse an output that it accepts once that is spoiled.
class Soundness {
 public:
  /// That of a problem's check.
  static Soundness& of(const Problem& problem);

  /// What the check has accepted and had to refuse, such as "whose last element is wrong".
  [[nodiscard]] const Reason& accepted() const { return accepted_; }

  /// Whether another output could show more.
  [[nodiscard]] bool open() const;

  /// Spoils each of the outputs that the check accepts of real inputs, of sums of so many terms, in
  /// each way that has not been refused yet. `other` are the same row's of other inputs.
  void hold(std::span<const View> right, std::span<const View> other, std::int64_t terms,
            const std::function<bool(std::span<const View>)>& accepts);

 private:
  std::set<std::pair<std::string_view, std::size_t>> refused_;
  std::size_t count_ = 1;  // of outputs
  int tried_ = 0;          // proofs whose outputs were spoiled
  Reason accepted_;
};

}  // namespace recheck
