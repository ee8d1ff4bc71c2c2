// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "../case/reporter.hpp"
#include "../prove/gate.hpp"
#include "pace.hpp"
#include "timer.hpp"

namespace recheck {

/// Brings the cases of one shape at a time to their results: refuses what cannot run here, proves
/// the rows (gate.hpp), and times what has passed (timer.hpp).
class Runner {
 public:
  Runner(const Settings& settings, Gpu gpu, Reporter reporter = {})
      : settings_(settings),
        targets_(std::move(gpu)),
        reporter_(std::move(reporter)),
        pace_(settings_, targets_.gpu()) {}
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  [[nodiscard]] const Reporter& reporter() const { return reporter_; }

  /// Runs `cases`, which share an experiment and a shape, unless the run is interrupted. An
  /// exception of a row fails that row only. Throws DeviceLost.
  void run(std::span<Case* const> cases);
  /// Ends the cases whose rows cannot run here at their shapes.
  void refuse_rows(std::span<Case* const> cases);

 private:
  void run_on(Backend backend, std::span<Case* const> cases);
  void refuse_by_size(std::span<Case* const> cases, Target& target);
  void try_small(const Gate& gate, const Strategy& strategy);
  void prove(Gate& gate, std::span<Case* const> cases, LaunchSeconds& seconds);
  void time(Gate& gate, std::span<Case* const> cases, LaunchSeconds& seconds);

  const Settings settings_;
  Targets targets_;
  Reporter reporter_;
  Pace pace_;
};

}  // namespace recheck
