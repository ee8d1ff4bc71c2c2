// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace recheck {

double middle(std::vector<double> samples) {
  const auto it = samples.begin() + std::ssize(samples) / 2;
  std::ranges::nth_element(samples, it);
  return *it;
}

std::optional<Interval> median_interval(std::vector<double> samples) {
  const auto n = samples.size();
  if (n < fewest_samples) return {};
  std::ranges::sort(samples);
  // the true median falls below the l-th smallest sample iff fewer than l samples lie below it:
  // take the largest l for which that has a chance of at most 2.5%, and mirror it
  double chance = std::exp2(-static_cast<double>(n)), below = chance;
  std::size_t l = 0;
  while (below <= 0.025) {
    ++l;
    chance *= static_cast<double>(n - l + 1) / static_cast<double>(l);
    below += chance;
  }
  const double median = (samples[(n - 1) / 2] + samples[n / 2]) / 2;
  return Interval{median, samples[l - 1], samples[n - l]};
}

}  // namespace recheck
