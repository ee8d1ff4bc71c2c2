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

#include "host_cpus.hpp"
#include "method.hpp"
#include "record.hpp"

namespace recheck {

/// Once a proof has shown how long it takes, this many times what was allowed for is let through:
/// predictions are rough, and a shared machine is slower than it was.
constexpr double most_budgets_of_a_proof = 4 * method.proof_budgets;

/// Set by a signal handler; a session then stops at the next opportunity and keeps what it has.
extern std::atomic<bool> interrupted;

/// What else used the GPU since the call before.
struct Others {
  double gpu_percent = 0;  // of its time, the most in any second; 0 where the driver does not tell
  bool hot = false;        // whether it lowered its clock to stay cool
};

/// Thrown when an error has taken the device's context with it. Every later CUDA call of the
/// process fails, so what is left to measure needs a new process.
struct DeviceLost {};

/// Carries a record's cases out: proves, times, proves again, and has the record saved as it goes.
class Session {
 public:
  /// `show` is called with the case at hand, `save` whenever one has come to its end, `others`
  /// before and after the samples of a regime.
  Session(
      const Settings& settings, Gpu gpu, std::function<void(const Case&)> show,
      std::function<void()> save, std::function<Others()> others = [] { return Others{}; });

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
    bool surprised = false;       // whether a launch among its samples has met fresh inputs
    int blocks = 0;
    Result left = {};      // of judging what its last block has left in the output
    double judging = 0;    // seconds that this took
    CpuSeconds cpus = {};  // that passed in its blocks, where the host is the clock
  };
  void attempt(Backend backend, std::span<Case* const> cases);
  void prove(Workbench& bench, const Strategy& strategy, std::span<Case* const> cases);
  void time(Workbench& bench, std::vector<Case*> cases);
  [[nodiscard]] bool due(const Run& run, int rank) const;
  void calibrate(Target& where, Run& run);
  void sample(Workbench& bench, Target& where, Run& run, int round, bool last);
  void conclude(Workbench& bench, Target& where, Run& run, const Others& others);
  Samples sampled(Workbench& bench, Target& where, Run& run, bool looked_at, bool surprised);
  void take_block(Workbench& bench, Target& where, Run& run, int round, bool last);
  Result surprise_alone(Workbench& bench, Target& where, Run& run);
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
  std::function<Others()> others_;
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
