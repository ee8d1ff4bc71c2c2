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

/// Consecutive samples of one case. Blocks that other cases of the same shape and regime took in
/// the same round are close in time, so blocks of one round are compared in pairs.
struct Block {
  int round, count;                // of samples
  std::optional<double> clock_hz;  // SM clock during the block
};

/// Samples of a disturbed block: kept in the record, but excluded from the median.
struct SetAside {
  int round;
  std::vector<double> samples;  // seconds
};

/// A case's lines in record.json and samples.jsonl; `samples` is empty if it has no time.
struct Lines {
  std::string record, samples;
};

/// One strategy at one shape in one regime, with this run's results for it so far.
struct Case {
  const Experiment* experiment;
  const Strategy* strategy;
  Shape shape;
  Regime regime;

  std::optional<Result> result = {};     // set by Reporter::finish, or taken from an earlier record
  std::vector<double> samples = {};      // seconds, raw, in order of time
  std::vector<Block> blocks = {};        // the blocks of these samples
  int batch = 1;                         // launches per sample
  std::vector<SetAside> set_aside = {};  // blocks that were disturbed
  Reason disturbed = {};                 // why the remaining times may still be too long
  std::optional<Interval> seconds = {};  // present iff the result is `passed`
  std::optional<Power> power = {};
  std::optional<Settling> settling = {};  // of a sustained case
  double predicted = 0;                   // expected wall seconds, proofs included
  double spent = 0;  // wall seconds so far; work shared by a shape's cases is the first's
  // as an earlier run wrote them: nothing above but `spent` and the result's status is read back
  std::optional<Lines> earlier = {};

  /// The name used everywhere, such as "matmul/tile16/1024x1024x1024/cold".
  [[nodiscard]] std::string id() const {
    return std::string(experiment->name) + "/" + std::string(strategy->name) + "/" +
           to_string(shape) + "/" + std::string(name_of(regime));
  }
  [[nodiscard]] Work work() const { return experiment->work(*strategy, shape); }
  [[nodiscard]] Backend backend() const { return strategy->launch.backend; }
  [[nodiscard]] const RegimeKind& kind() const { return kind_of(regime); }
  /// Whether the host's clock times it, rather than the device's.
  [[nodiscard]] bool host_timed() const { return kind().copies || backend() == Backend::cpu; }
  /// Whether a launch of this many seconds is long enough for the case's two proofs to count as its
  /// first samples.
  [[nodiscard]] bool proofs_are_samples(double launch) const {
    return backend() == Backend::cpu && kind().on_cpu && strategy->part_of.empty() &&
           launch >= method.proofs_timed_from_seconds;
  }
  /// Whether these two and a launch on fresh inputs are all the samples that the case gets.
  [[nodiscard]] bool has_three_samples(double launch) const {
    return proofs_are_samples(launch) && launch >= method.three_samples_from_seconds;
  }
  [[nodiscard]] bool is_headline() const { return shape == experiment->headline; }
};

/// Whether two cases are sampled in the same rounds.
inline bool together(const Case& a, const Case& b) {
  return a.experiment == b.experiment && a.shape == b.shape;
}

/// Settings of the measurement that a user may change. A record states them, and resuming it
/// requires the same ones.
struct Settings {
  double budget_seconds = 1;  // of sampling per case; method.hpp derives the rest from it
  std::uint64_t seed = 13;    // of inputs and order: srand(13), as in S1
  std::optional<double> command_budget_seconds = {};  // of the whole run, if it has a limit
};

/// Set by a signal handler: the run then stops at the next opportunity and keeps its results.
inline std::atomic<bool> interrupted = false;

}  // namespace recheck
