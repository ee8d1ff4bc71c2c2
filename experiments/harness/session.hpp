// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "method.hpp"
#include "record.hpp"

namespace recheck {

/// Once a proof has shown how long it takes, this many times what was allowed for is let through: a
/// host that others use too may take half as long again as the one before.
constexpr double most_budgets_of_a_proof = 4 * method.proof_budgets;

/// Set by a signal handler; a session then stops at the next opportunity and keeps what it has.
extern std::atomic<bool> interrupted;

/// Thrown when an error has taken the device's context with it. Every later CUDA call of the
/// process fails, so what is left to measure needs a new process.
struct DeviceLost {};

/// Carries a record's cases out: proves, times, proves again, and has the record saved as it goes.
class Session {
 public:
  /// `show` is called with the case at hand, `save` whenever one has come to its end.
  Session(const Settings& settings, Gpu gpu, std::function<void(const Case&)> show,
          std::function<void()> save);

  /// Brings all `cases`, which share an experiment and a shape, to a result. Never throws for what
  /// a strategy or the device does: that is the case's own failure.
  void measure(std::span<Case* const> cases);

  /// What the time has gone into so far.
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

 private:
  /// A case while it is being timed.
  struct Run {
    Case* c;
    std::function<void()> launch;
    int repeats;                  // of the work in one launch
    double spent = 0;             // seconds, flushes and copies included
    int batch = 0;                // launches per sample; 0 until it has been found out
    std::vector<int> looks = {};  // the rounds in which, or soon after, it is looked at; last first
    std::optional<Samples> met = {};  // the block in which it met other inputs for the first time
    int blocks = 0, disagreeing = 0;  // in how many of them two clocks say different things
    Result left = {};                 // of judging what its last block has left in the output
    double judging = 0;               // seconds that this took
    bool by_time = false;             // whether its times alone speak against it
  };
  void attempt(Backend backend, std::span<Case* const> cases);
  void prove(Workbench& bench, const Strategy& strategy, std::span<Case* const> cases);
  void time(Workbench& bench, std::vector<Case*> cases);
  [[nodiscard]] bool due(const Run& run, int round) const;
  void calibrate(Target& where, Run& run);
  void sample(Workbench& bench, Target& where, Run& run, int round);
  void conclude(Workbench& bench, Target& where, Run& run);
  void judge_times(std::span<Run> runs);
  Samples sampled(Workbench& bench, Target& where, Run& run, bool looked_at, bool surprised);
  void take_block(Workbench& bench, Target& where, Run& run, int round);
  Result challenge(Workbench& bench, Target& where, Run& run, const Interval& interval,
                   Result passed);
  Reason repeats_less(Workbench& bench, Target& where, const Run& run, double usual);
  void note_pace(const Case& c, double seconds);
  std::optional<double> pace_at(const Case& c, const Shape& small, Target& where);
  Reason too_slow(const Case& c, Target& target);
  [[nodiscard]] Reason too_long(double seconds, double budgets) const;
  Reason too_large(const Case& c, Target& target);
  template <typename Body>
  void guarded(std::span<Case* const> cases, Target& target, Body body);

  Settings settings_;
  Targets targets_;
  std::function<void(const Case&)> show_;
  std::function<void()> save_;
  Ledger ledger_;
  std::mt19937_64 chance_{std::random_device{}()};  // of what no strategy shall foresee
  std::map<const Strategy*, double> seconds_;  // about what one launch takes at the shape at hand
  // seconds per Work::size() so far: the worst of launches that were long, the best of all since
  struct Pace {
    double best, worst;
  };
  std::map<const Strategy*, Pace> pace_;
  // what a small shape of these proportions took
  std::map<std::pair<const Strategy*, Shape>, double> tried_;
};

}  // namespace recheck
