// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../case/case.hpp"

namespace recheck {

/// The cases of an experiment at a shape that a run skipped to save time, and why.
struct Dropped {
  std::string experiment, shape, reason;
};

/// What a run set out to measure: the whole tables ("full"), the cases in --cases ("claims"), or a
/// selection by other flags ("chosen").
struct Coverage {
  std::string preset = "full";
  std::vector<Dropped> dropped = {};
};

/// What an earlier run wrote: its record without the cases, and the cases' lines in its order.
struct Earlier {
  nlohmann::ordered_json head;
  std::vector<std::pair<std::string, Lines>> cases = {};  // with their ids
};

/// The results of a run on a machine: the contract with other programs, documented in
/// reports/README.md. Any change of its form increments `schema`. The raw samples are in a separate
/// file.
struct Record {
  static constexpr int schema = 6;

  std::span<const Experiment> experiments = {};  // of the program, measured or not
  nlohmann::ordered_json environment;
  nlohmann::ordered_json ceilings;
  Coverage coverage = {};
  std::vector<Case> cases;
  double wall_seconds = 0;
  bool finished = false;  // whether the run went through to its end

  /// All but the cases.
  [[nodiscard]] nlohmann::ordered_json head() const;
  /// The lines of all cases.
  [[nodiscard]] std::vector<Lines> lines() const;

  /// Takes over the finished cases, start time and dropped shapes of an earlier run of the same
  /// plan (resume.cpp), whose first calls stay planned. Of a case's lines it reads id, status and
  /// time spent. Throws, in one line, std::invalid_argument if its settings or cases differ from
  /// the current plan, and std::runtime_error if it is not a record of this schema, or comes from
  /// another machine or build.
  void resume(Earlier earlier);
};

/// The case with this id; nothing if there is no such row or regime. Throws std::invalid_argument,
/// in one line, if its shape is not one.
std::optional<Case> case_named(std::span<const Experiment> experiments, const std::string& id);

/// The first entry in which two environments differ, for a person; nothing if they agree. Entries
/// in `ignored` may differ, and so may the start, the command and the machine's state.
Reason difference(const nlohmann::ordered_json& was, const nlohmann::ordered_json& is,
                  const std::vector<std::string>& ignored = {});

/// Describes a run's GPU, driver, compilers, flags, CPU, git state, time and command line.
nlohmann::ordered_json environment(const Gpu& gpu, const std::string& command,
                                   const Settings& settings);

/// Whether launches go through NVIDIA's Multi-Process Service: they do if a daemon answers on this
/// process's MPS pipe.
bool has_mps();

/// The CPU's model, or what else identifies it; "unknown aarch64 CPU" if `root` has no information.
std::string cpu_name(const std::filesystem::path& root, const std::string& machine);

/// The device's theoretical limits, from its attributes; empty without a device.
nlohmann::ordered_json ceilings(const Gpu& gpu);

/// The time now, as "2026-11-21T03:00:00Z".
std::string utc_now();

/// This program and build, as --version prints it: "recheck 0.1.0 (0123456789ab-dirty)".
std::string version(const std::string& program);

/// 64-bit FNV-1a, as 16 hexadecimal digits: distinguishes texts without revealing them.
/// Source: http://www.isthe.com/chongo/tech/comp/fnv/
std::string fnv1a(std::string_view text);

/// A JSON value in one line, without the newline. Bytes that are not UTF-8, which a command line
/// may contain, are replaced.
std::string to_line(const nlohmann::ordered_json& value);

/// A JSON object with a line for each member of an object and for each object in a list, so that
/// records can be compared with diff.
std::string to_text(const nlohmann::ordered_json& object);

/// Writes FOLDER/samples.jsonl, then FOLDER/record.json: if it exists, so do its samples. Throws as
/// write_file() does.
void write_record(const std::filesystem::path& folder, const nlohmann::ordered_json& head,
                  const std::vector<Lines>& cases, const std::string& advice);

/// Writes `text` to `path` completely or not at all, by a temporary file and a rename. Throws
/// std::runtime_error, whose single line ends in `advice`; an earlier file at `path` is then
/// unchanged.
void write_file(const std::filesystem::path& path, const std::string& text,
                const std::string& advice = "choose another folder with --output");

}  // namespace recheck
