// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "statistics.hpp"
#include "workbench.hpp"

namespace recheck {

/// One strategy at one shape in one regime, and what this run has found out about it so far.
struct Case {
  const Experiment* experiment;
  const Strategy* strategy;
  Shape shape;
  Regime regime;

  std::optional<Verdict> verdict = {};   // nothing until the run has come to one
  std::vector<double> samples = {};      // seconds, raw
  int discarded = 0;                     // samples taken while the clock was throttled
  std::optional<Interval> seconds = {};  // present iff the verdict is `passed`
  std::optional<double> clock_hz = {};

  /// The name used everywhere: matmul/tile16/1024x1024x1024/cold.
  [[nodiscard]] std::string id() const;
  [[nodiscard]] Work work() const { return experiment->work(*strategy, shape); }
};

/// What a run on a machine measured: the contract that other programs read, documented in
/// reports/README.md. Every change of its form bumps `schema`.
struct Record {
  static constexpr int schema = 2;

  nlohmann::ordered_json environment;
  nlohmann::ordered_json ceilings;
  std::vector<Case> cases;
  double wall_seconds = 0;
  bool finished = false;  // gone through to its end

  [[nodiscard]] nlohmann::ordered_json to_json() const;

  /// Takes over the verdicts that an earlier run of the same plan has come to, and its start.
  /// Throws std::runtime_error, in one line, if `earlier` is no record of this schema, is from
  /// another environment, or holds cases that are not planned now.
  void resume(const nlohmann::ordered_json& earlier);
};

/// What a user may set about how to measure. A record states it, and only the same may resume it.
struct Settings {
  double budget_seconds = 1;  // of sampling per case, and what follows from it in session.cpp
  std::uint64_t seed = 13;    // of inputs and order: S1's srand(13)
};

/// Where and with what a run happens: GPU, driver, compilers, flags, CPU, git, time, command line.
nlohmann::ordered_json environment(const Gpu& gpu, const std::string& command,
                                   const Settings& settings);

/// What the device could do at best, from its attributes; empty without a device.
nlohmann::ordered_json ceilings(const Gpu& gpu);

/// The time now, as "2026-11-21T03:00:00Z".
std::string utc_now();

/// Reads a JSON file. Throws std::runtime_error, in one line, where there is none.
nlohmann::ordered_json read_json(const std::filesystem::path& path);

/// Writes `text` to `path` whole or not at all, by way of a temporary file and a rename. Throws
/// std::runtime_error, in one line; what stood at `path` before is then still there.
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace recheck
