// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../base/statistics.hpp"
#include "../device/target.hpp"
#include "../table/method.hpp"
#include "../table/result.hpp"

namespace recheck {

/// Samples of one case that were taken in one go. What other cases of its shape and regime took in
/// the same round stood next to it in time, so blocks of the same round are compared in pairs.
struct Block {
  int round, count;                // of samples
  std::optional<double> clock_hz;  // the SM clock meanwhile
};

/// Samples of a block that was disturbed: kept in the record, and out of the median.
struct SetAside {
  int round;
  std::vector<double> samples;  // seconds
};

/// One strategy at one shape in one regime, and what this run has found out about it so far.
struct Case {
  const Experiment* experiment;
  const Strategy* strategy;
  Shape shape;
  Regime regime;

  std::optional<Result> result = {};     // set by Reporter::finish, or taken over from a record
  std::vector<double> samples = {};      // seconds, raw, in order of time
  std::vector<Block> blocks = {};        // and what they belong to
  int batch = 1;                         // launches per sample
  std::vector<SetAside> set_aside = {};  // blocks that were disturbed
  Reason disturbed = {};                 // why its times may be too long all the same
  std::optional<Interval> seconds = {};  // present iff the result is `passed`
  std::optional<Power> power = {};
  std::optional<Settling> settling = {};  // of a sustained one
  double predicted = 0;  // wall seconds that this run expects it to take, proofs included
  double spent = 0;      // and that it has taken; what a shape's cases share, the first bears

  /// The name used everywhere: matmul/tile16/1024x1024x1024/cold.
  [[nodiscard]] std::string id() const {
    return std::string(experiment->name) + "/" + std::string(strategy->name) + "/" +
           to_string(shape) + "/" + std::string(name_of(regime));
  }
  [[nodiscard]] Work work() const { return experiment->work(*strategy, shape); }
  [[nodiscard]] Backend backend() const { return strategy->launch.backend; }
  /// Whether the host's clock times it, and not the device's.
  [[nodiscard]] bool host_timed() const {
    return is_end_to_end(regime) || backend() == Backend::cpu;
  }
  /// Whether its launch, of so many seconds, takes so long that its two proofs are its first
  /// samples.
  [[nodiscard]] bool proofs_are_samples(double launch) const {
    return backend() == Backend::cpu && regime == Regime::hot && strategy->part_of.empty() &&
           launch >= method.proofs_timed_from_seconds;
  }
  /// Whether these and a launch on fresh inputs are all that it has.
  [[nodiscard]] bool has_three_samples(double launch) const {
    return proofs_are_samples(launch) && launch >= method.three_samples_from_seconds;
  }
  [[nodiscard]] bool is_headline() const { return shape == experiment->headline; }
};

/// Whether two cases are measured in turns.
inline bool together(const Case& a, const Case& b) {
  return a.experiment == b.experiment && a.shape == b.shape;
}

/// What a user may set about how to measure. A record states it, and only the same may resume it.
struct Settings {
  double budget_seconds = 1;  // of sampling per case; method.hpp has what follows from it
  std::uint64_t seed = 13;    // of inputs and order: S1's srand(13)
  std::optional<double> command_budget_seconds = {};  // of the whole run, if it has a limit
};

/// Set by a signal handler; a run then stops at the next opportunity and keeps what it has.
inline std::atomic<bool> interrupted = false;

}  // namespace recheck
