// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace recheck {

/// A median and the 95% confidence interval around it, in the samples' unit.
struct Interval {
  double median, low, high;
  /// Half the interval's width relative to the median: how precisely the median is known.
  [[nodiscard]] double precision() const { return (high - low) / (2 * median); }
};

/// The fewest samples whose range holds the median with 95% confidence.
inline constexpr int fewest_samples = 6;

/// Median with its nonparametric 95% interval: order statistics whose binomial coverage is at least
/// 95%, no assumption about the distribution. Nothing for fewer than 6 samples, where no such pair
/// exists. Source: Hoefler & Belli, Scientific Benchmarking of Parallel Computing Systems, SC'15,
/// rule 5.
std::optional<Interval> median_interval(std::vector<double> samples);

}  // namespace recheck
