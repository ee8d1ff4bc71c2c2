// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../base/statistics.hpp"
#include "strategy.hpp"

namespace recheck {

/// The numbers by which cases are timed. A record states them under these names, so that a reader
/// need not know which version of Recheck wrote it; reports/README.md says what they mean.
struct Method {
  // of medians: the interval's confidence, and the fewest samples that have one
  double confidence = recheck::confidence;
  int fewest_samples = recheck::fewest_samples;

  // every row of a shape takes a block of samples in each of so many rounds, or where that would
  // take more than so many budgets, in some of them. Less where the host is the clock: samples
  // there have several modes, and no number of them makes their median narrow. What two processes
  // on one H200 differed by was the same for 1, 4 and 16 samples of a block; what a process tells
  // apart at 60 us is four times as much with 4 as with 8. Medians of 12 rounds have intervals of
  // 0.11 % to either side from 100 us on, and 0.4 % from 10 us on, of 20 rounds 0.09 and 0.3 %,
  // while 97 of 100 differ by up to 0.2 to 0.5 % and 1.3 to 2.4 % between two processes
  int rounds = 12;
  double most_budgets = 0.5, most_budgets_host_timed = 0.25;
  double block_seconds = 2e-3;
  int block_samples = 8;
  int queued_samples = 1;  // of a block, at a time; gpu_target.cpp says why no more
  // several hot launches make a sample where one lasts fewer steps of the clock than this
  int fewest_steps = 1000;

  // of a CPU row whose launch takes so long its two proofs and its launch on fresh inputs are
  // samples as well: six launches in all, where eleven say no more; and beyond the second time
  // these three alone, as their times differ by a few per cent
  double proofs_timed_from_seconds = 0.1, three_samples_from_seconds = 0.5;

  // a case is tried only if its proofs and fewest samples are predicted to fit into so many budgets
  double proof_budgets = 20;

  // a block of GPU samples that takes more than so many times the case's fastest block but one is
  // set aside and measured again: of 28,095 blocks on a quiet H100, and as many on an H200, none
  double disturbed_above = 1.5;

  // what is read before a cold launch, and again after a drained one: so many times L2, but no
  // fewer bytes
  int flush_l2_sizes = 2;
  std::int64_t flush_least_bytes = 32 << 20;

  // sustained: launches until four half seconds in a row agree to such shares, or so many seconds
  // are over; then windows, of so many seconds in all; before each row so many seconds of rest
  double settled_pace = 0.005, settled_power = 0.02, settling_seconds = 6;
  double sustained_seconds = 2, rest_seconds = 1;

  // the regimes first and first_context: processes, each of which gives a sample of either
  int first_processes = 8;
  int inner_repeats = recheck::inner_repeats;
};
inline constexpr Method method;

}  // namespace recheck
