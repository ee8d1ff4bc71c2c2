// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "../base/host_cpus.hpp"
#include "../case/case.hpp"
#include "../case/reporter.hpp"
#include "../prove/gate.hpp"

namespace recheck {

/// Estimated seconds of one launch of each row at the current shape.
using LaunchSeconds = std::map<const Strategy*, double>;

/// Times proven rows of one shape in one regime. Draws fresh inputs, warms up, and takes a block of
/// samples of each row in every round; the first block calibrates the row. Repeats disturbed
/// rounds, and records the interval and the power. The gate judges the outputs of blocks.
class Timer {
 public:
  /// `seconds` has an entry for each row, at least from its proof, and is updated by the samples.
  Timer(Gate& gate, const Settings& settings, const Reporter& reporter, LaunchSeconds& seconds)
      : gate_(gate),
        target_(gate.operands().target()),
        settings_(settings),
        reporter_(reporter),
        seconds_(seconds) {}

  /// Brings all `cases` to a result, unless the run is interrupted.
  void time(std::span<Case* const> cases);

 private:
  /// The state of a case while it is being timed.
  struct Row {
    Case* c;
    std::function<void()> launch;
    int repeats;  // work repetitions per launch
    std::vector<int>
        fresh_rounds;            // in which, or soon after, a launch has fresh inputs; last first
    int batch = 0;               // launches per sample; 0 until calibrated
    int blocks = 0;              // taken
    int proofs = 0;              // of these, with one sample each
    bool few = false;            // its only samples: the proofs, and the launch on fresh inputs
    double spent = 0;            // seconds in its blocks, with flushes and copies
    bool fresh_checked = false;  // whether one of its blocks had a fresh launch
    Result judged = {};          // judgement of its last block
    CpuSeconds cpus = {};        // CPU time during its blocks, if the host is the clock
  };
  Row row_of(Case& c);
  void warm_up();
  void sample_rounds(int first, int count);
  [[nodiscard]] bool takes_part(const Row& row, int rank) const;
  std::optional<Result> sample_block(Row& row, int round, bool last);
  void calibrate(Row& row);
  int block_count(const Row& row, bool checked);
  Samples sample(Row& row, int count, bool fresh, BlockCheck& check);
  [[nodiscard]] Sampling sampling(const Row& row, int count, double guess);
  void add_block(Row& row, int round, const Samples& samples);
  Result record(Row& row, const Load& load);
  Result check_fresh_alone(Row& row);
  /// Estimated seconds of a sample.
  [[nodiscard]] double sample_seconds(const Row& row) const {
    return seconds_.at(row.c->strategy) * row.repeats * row.batch;
  }
  template <typename Wanted, typename Body>
  void each(Wanted wanted, Body body);

  Gate& gate_;
  Target& target_;
  const Settings& settings_;
  const Reporter& reporter_;
  LaunchSeconds& seconds_;
  std::vector<Row> rows_;
  std::mt19937_64 order_{settings_.seed};           // of the rows in each round
  std::mt19937_64 chance_{std::random_device{}()};  // for what rows must not predict
};

/// Times proven rows of one shape over seconds: in random order, each after the same rest, the
/// first row again at the end. The output of each row's last launch is judged.
void time_sustained(Gate& gate, const Settings& settings, const Reporter& reporter,
                    const LaunchSeconds& seconds, std::span<Case* const> cases);

}  // namespace recheck
