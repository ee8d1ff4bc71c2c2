// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../base/clock.hpp"
#include "nvml.hpp"
#include "target.hpp"

namespace recheck {

/// Measures energy between two ticks of a GPU's counter, which come every few tens of milliseconds,
/// and records what limited the clock in the meantime.
class Meter {
 public:
  explicit Meter(const Nvml& nvml) : nvml_(nvml), last_(nvml.joules().value) {}

  /// Takes several milliseconds.
  void look() {
    const auto joules = last_ ? nvml_.joules().value : std::nullopt;
    if (!joules || joules == last_) return;
    last_ = joules;
    last_time_ = now();
    if (first_time_ == 0) {
      first_ = *joules;
      first_time_ = last_time_;
    }
    for (const auto& reason : nvml_.throttle().value.value_or(std::vector<std::string>{}))
      throttle_.insert(reason);
  }

  /// Power of launches of this many seconds; nothing unless two ticks were seen.
  [[nodiscard]] std::optional<Power> power(double launch_seconds) const {
    const double seconds = last_time_ - first_time_;  // first to last tick seen
    if (!last_ || seconds <= 0) return {};
    const double watts = (*last_ - first_) / seconds;
    return Power{.watts = watts,
                 .joules = watts * launch_seconds,
                 .seconds = seconds,
                 .temperature_c = nvml_.temperature_c().value.value_or(0),
                 .throttle = {throttle_.begin(), throttle_.end()}};
  }

 private:
  const Nvml& nvml_;
  std::optional<double> last_;  // joules
  double first_ = 0, first_time_ = 0, last_time_ = 0;
  std::set<std::string> throttle_;
};

}  // namespace recheck
