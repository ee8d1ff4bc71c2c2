// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ledger.hpp"
#include "statistics.hpp"
#include "workbench.hpp"

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

  std::optional<Result> result = {};     // nothing until the run has come to one
  std::vector<double> samples = {};      // seconds, raw, in order of time
  std::vector<Block> blocks = {};        // and what they belong to
  int batch = 1;                         // launches per sample
  std::vector<SetAside> set_aside = {};  // blocks that were disturbed
  Reason disturbed = {};                 // why its times may be too long all the same
  std::optional<Interval> seconds = {};  // present iff the result is `passed`
  std::optional<Power> power = {};
  double predicted = 0;  // wall seconds that this run expects it to take, proofs included
  double spent = 0;      // and that it has taken; what a shape's cases share, the first bears

  /// The name used everywhere: matmul/tile16/1024x1024x1024/cold.
  [[nodiscard]] std::string id() const;
  [[nodiscard]] Work work() const { return experiment->work(*strategy, shape); }
};

/// What record.json says of a case, and what samples.jsonl does.
nlohmann::ordered_json to_json(const Case& c);
nlohmann::ordered_json samples_json(const Case& c);

/// Whether the power that a case draws is measured: at headlines, back to back, no points of
/// sweeps.
bool draws(const Case& c);

/// Cases of an experiment at a shape that a run left out to save time, and why.
struct Dropped {
  std::string experiment, shape, reason;
};

/// How much of the tables a run set out to measure: all ("full"), --quick's part ("quick"), or what
/// other flags chose ("chosen").
struct Coverage {
  std::string preset = "full";
  std::vector<Dropped> dropped = {};
};

/// What a run on a machine measured: the contract that other programs read, documented in
/// reports/README.md. Every change of its form bumps `schema`. The raw samples are no part of its
/// JSON: they are in a file of their own.
struct Record {
  static constexpr int schema = 6;

  std::span<const Experiment> experiments = {};  // of the program, measured or not
  nlohmann::ordered_json environment;
  nlohmann::ordered_json ceilings;
  Coverage coverage = {};
  std::vector<Case> cases;
  double wall_seconds = 0;
  Ledger overhead = {};
  bool finished = false;  // gone through to its end

  [[nodiscard]] nlohmann::ordered_json to_json() const;

  /// The members that grow while it runs: wall_seconds, and overhead, what they went into.
  [[nodiscard]] nlohmann::ordered_json times() const;

  /// Takes over the results that an earlier run of the same plan has come to, its start, and what
  /// its --budget had dropped. `earlier` is as read_earlier() returns it: cases with their samples.
  /// Throws std::runtime_error, in one line, if `earlier` is no record of this schema, is from
  /// another environment, holds cases that are not planned now, or says of one what cannot be: what
  /// follows from the samples has to, and counts and times have to be some.
  void resume(const nlohmann::ordered_json& earlier);
};

/// What a user may set about how to measure. A record states it, and only the same may resume it.
struct Settings {
  double budget_seconds = 1;  // of sampling per case, and what follows from it in session.cpp
  std::uint64_t seed = 13;    // of inputs and order: S1's srand(13)
  std::optional<double> command_budget_seconds = {};  // of the whole run, if it has a limit
};

/// The first entry in which two environments differ, for a person; nothing where they are the same.
/// `ignored` entries may differ, and what passes: when and by which command a run was started, and
/// the machine's state.
Reason difference(const nlohmann::ordered_json& was, const nlohmann::ordered_json& is,
                  const std::vector<std::string>& ignored = {});

/// Where and with what a run happens: GPU, driver, compilers, flags, CPU, git, time, command line.
nlohmann::ordered_json environment(const Gpu& gpu, const std::string& command,
                                   const Settings& settings);

/// Whether launches go through NVIDIA's Multi-Process Service: a process is its client where a
/// daemon answers at its pipe.
bool has_mps();

/// The CPU's model, or what else is known of it; "unknown aarch64 CPU" where `root` says nothing.
std::string cpu_name(const std::filesystem::path& root, const std::string& machine);

/// What the device could do at best, from its attributes; empty without a device.
nlohmann::ordered_json ceilings(const Gpu& gpu);

/// The time now, as "2026-11-21T03:00:00Z". In one process it never goes back nor jumps.
std::string utc_now();

/// A program of this build, as --version prints it: "recheck 0.1.0 (0123456789ab-dirty)".
std::string version(const std::string& program);

/// FNV-1a in 64 bits, as 16 hexadecimal digits: tells texts apart without stating them.
/// Source: http://www.isthe.com/chongo/tech/comp/fnv/
std::string fnv1a(std::string_view text);

/// A JSON value in one line, without its end; bytes that are no UTF-8, as a command line may hold,
/// are replaced.
std::string to_line(const nlohmann::ordered_json& value);

/// A JSON object in which each member of an object and each object of a list has a line of its own:
/// a case a line, so that a difference of two records is one of lines.
std::string to_text(const nlohmann::ordered_json& object);

/// To six digits: an error's seventh says nothing.
double six_digits(double value);

/// Writes `text` to `path` whole or not at all, by way of a temporary file and a rename. Throws
/// std::runtime_error, in one line that ends in `advice`; what stood at `path` before is then still
/// there.
void write_file(const std::filesystem::path& path, const std::string& text,
                const std::string& advice = "choose another folder with --output");

}  // namespace recheck
