// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

namespace recheck {

/// The middle one of `samples`, the upper of two; they are not empty.
double middle(std::vector<double> samples);

/// A median and the 95% confidence interval around it, in the samples' unit.
struct Interval {
  double median, low, high;
  /// The larger half of the interval, relative to the median: how precisely that is known.
  [[nodiscard]] double precision() const { return std::max(high - median, median - low) / median; }
};

/// The fewest samples whose range holds the median with 95% confidence.
inline constexpr int fewest_samples = 6;

/// Median with its nonparametric 95% interval: order statistics whose binomial coverage is at least
/// 95%, no assumption about the distribution. Nothing for fewer than 6 samples, where no such pair
/// exists. Source: Hoefler & Belli, Scientific Benchmarking of Parallel Computing Systems, SC'15,
/// rule 5.
std::optional<Interval> median_interval(std::vector<double> samples);

}  // namespace recheck
