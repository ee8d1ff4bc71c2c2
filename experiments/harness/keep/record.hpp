// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../case/case.hpp"

namespace recheck {

/// What record.json says of a case, and what samples.jsonl does.
nlohmann::ordered_json to_json(const Case& c);
nlohmann::ordered_json samples_json(const Case& c);

/// Cases of an experiment at a shape that a run left out to save time, and why.
struct Dropped {
  std::string experiment, shape, reason;
};

/// How much of the tables a run set out to measure: all ("full"), those that --cases names
/// ("claims"), or what other flags chose ("chosen").
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
  bool finished = false;  // gone through to its end

  [[nodiscard]] nlohmann::ordered_json to_json() const;

  /// Takes over the results that an earlier run of the same plan has come to, its start, and what
  /// its --budget had dropped. `earlier` is as read_earlier() returns it: cases with their samples.
  /// Throws, in one line, std::invalid_argument if its settings or its cases are not what is
  /// planned now, and std::runtime_error if `earlier` is no record of this schema, is from another
  /// machine or build, or says of a case what cannot be: what follows from the samples has to, and
  /// counts and times have to be some.
  void resume(const nlohmann::ordered_json& earlier);
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

/// The time now, as "2026-11-21T03:00:00Z".
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
