// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace recheck {

/// The middle one of `samples`, the upper of two; they are not empty.
inline double middle(std::vector<double> samples) {
  const auto it = samples.begin() + std::ssize(samples) / 2;
  std::ranges::nth_element(samples, it);
  return *it;
}

inline constexpr double confidence = 0.95;  // of an interval, as a share

/// A median and the confidence interval around it, in the samples' unit.
struct Interval {
  double median, low, high;
};

/// The fewest samples whose range holds the median with that confidence.
inline constexpr int fewest_samples = 6;

/// Median with its nonparametric 95% interval: order statistics whose binomial coverage is at least
/// 95%, no assumption about the distribution. Nothing for fewer than 6 samples, where no such pair
/// exists. Source: Hoefler & Belli, Scientific Benchmarking of Parallel Computing Systems, SC'15,
/// rule 5.
inline std::optional<Interval> median_interval(std::vector<double> samples) {
  const auto n = samples.size();
  if (n < fewest_samples) return {};
  std::ranges::sort(samples);
  // the true median falls below the l-th smallest sample iff fewer than l samples lie below it:
  // take the largest l for which that has a chance of at most 2.5%, and mirror it
  double chance = std::exp2(-static_cast<double>(n)), below = chance;
  std::size_t l = 0;
  while (below <= (1 - confidence) / 2) {
    ++l;
    chance *= static_cast<double>(n - l + 1) / static_cast<double>(l);
    below += chance;
  }
  const double median = (samples[(n - 1) / 2] + samples[n / 2]) / 2;
  return Interval{median, samples[l - 1], samples[n - l]};
}

}  // namespace recheck
