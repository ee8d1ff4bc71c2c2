// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../base/statistics.hpp"
#include "strategy.hpp"

namespace recheck {

/// The numbers that determine how cases are timed. A record states them under these names, so that
/// a reader does not need the version of Recheck that wrote it; reports/README.md explains them.
struct Method {
  // of medians: the interval's confidence, and the fewest samples that have an interval
  double confidence = recheck::confidence;
  int fewest_samples = recheck::fewest_samples;

  // Every row of a shape takes a block of samples in each of `rounds` (time/rounds.hpp), or in
  // fewer if that would exceed `most_budgets`. The host's clock gets less time: its samples have
  // several modes, so more of them do not narrow the median
  int rounds = 12;
  double most_budgets = 0.5, most_budgets_host_timed = 0.25;
  double block_seconds = 2e-3;
  int block_samples = 8;
  int queued_samples = 1;  // queued at a time; gpu_target.cpp explains why
  // several hot launches share a sample if one lasts fewer steps of the clock than this
  int fewest_steps = 1000;

  // CPU rows with launches this long: the two proofs and the launch on fresh inputs become samples
  // too. That makes six launches instead of eleven, which tell no more. Beyond the second time
  // these three suffice, as their times differ by a few per cent
  double proofs_timed_from_seconds = 0.1, three_samples_from_seconds = 0.5;

  // a case is tried only if its proofs and fewest samples should fit into this many budgets
  double proof_budgets = 20;

  // a block of GPU samples is set aside and measured again if it takes more than this many times
  // the second-fastest block. On a quiet H100 and H200, none of 28,095 blocks each did
  double disturbed_above = 1.5;

  // device/flush.hpp reads this many times L2, but at least this many bytes
  int flush_l2_sizes = 2;
  std::int64_t flush_least_bytes = 32 << 20;

  // sustained: launches until four consecutive half seconds agree within these shares, or until the
  // settling time is over; then windows of `sustained_seconds` in all. Each row rests before it
  double settled_pace = 0.005, settled_power = 0.02, settling_seconds = 6;
  double sustained_seconds = 2, rest_seconds = 1;

  // first and first_context: number of processes; each gives one sample of both
  int first_processes = 6;
  int inner_repeats = recheck::inner_repeats;
};
inline constexpr Method method;

}  // namespace recheck
