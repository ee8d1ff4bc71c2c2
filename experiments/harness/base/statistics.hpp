// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace recheck {

/// The median of `samples`, which must not be empty; the upper one of an even number.
inline double middle(std::vector<double> samples) {
  const auto it = samples.begin() + std::ssize(samples) / 2;
  std::ranges::nth_element(samples, it);
  return *it;
}

inline double mean_of(std::span<const double> values) {
  return std::reduce(values.begin(), values.end()) / static_cast<double>(values.size());
}

/// Whether the last four values agree within this share.
inline bool settled(std::span<const double> values, double share) {
  if (values.size() < 4) return false;
  const auto [low, high] = std::ranges::minmax(values.last(4));
  return high <= (1 + share) * low;
}

inline constexpr double confidence = 0.95;  // confidence of an interval, as a share

/// A median and the confidence interval around it, in the samples' unit.
struct Interval {
  double median, low, high;
};

/// The fewest samples whose range holds the median with that confidence; fewest of long launches.
inline constexpr int fewest_samples = 6, fewest_long_samples = 3;

/// Median with its nonparametric 95% interval: order statistics whose binomial coverage is at least
/// 95% if the samples are independent, whatever their distribution. Source: Hoefler & Belli,
/// Scientific Benchmarking of Parallel Computing Systems, SC'15, rule 5. Three to five samples have
/// no such pair: theirs is Student's interval of the logarithms' mean. Nothing for fewer.
inline std::optional<Interval> median_interval(std::vector<double> samples) {
  const auto n = samples.size();
  if (n < fewest_long_samples) return {};
  std::ranges::sort(samples);
  if (n < fewest_samples) {
    constexpr double student[] = {4.303, 3.182, 2.776};  // 97.5% at 2, 3 and 4 degrees of freedom
    double mean = 0, squares = 0;
    for (const double s : samples) mean += std::log(s) / static_cast<double>(n);
    for (const double s : samples) squares += std::pow(std::log(s) - mean, 2);
    const double half =
        student[n - fewest_long_samples] * std::sqrt(squares / static_cast<double>(n * (n - 1)));
    return Interval{(samples[(n - 1) / 2] + samples[n / 2]) / 2, std::exp(mean - half),
                    std::exp(mean + half)};
  }
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

/// The median of a block's samples. If three of four lie within one `step` of the clock of it, the
/// step decides the median, and the result is their mean.
inline double middle_of_block(std::vector<double> samples, double step) {
  std::ranges::sort(samples);
  const auto n = samples.size();
  const double median = (samples[(n - 1) / 2] + samples[n / 2]) / 2;
  // steps are exact only up to rounding
  std::erase_if(samples, [&](double s) { return std::abs(s - median) > 1.01 * step; });
  return 4 * samples.size() >= 3 * n ? mean_of(samples) : median;
}

/// The median over blocks, with its interval; `counts` has the samples of each block. Samples of
/// one block share the state of the machine, so they count once. With fewer than three blocks the
/// samples count instead. No end is nearer to the median than half a `step` of the clock.
inline std::optional<Interval> interval_of_blocks(const std::vector<double>& samples,
                                                  std::span<const int> counts, double step) {
  std::vector<double> middles;
  auto at = samples.begin();
  for (const int count : counts) {
    middles.push_back(middle_of_block({at, at + count}, step));
    at += count;
  }
  auto found = median_interval(std::ssize(middles) < fewest_long_samples ? samples : middles);
  if (found) {
    found->low = std::min(found->low, found->median - step / 2);
    found->high = std::max(found->high, found->median + step / 2);
  }
  return found;
}

}  // namespace recheck
