// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "../base/clock.hpp"
#include "record.hpp"

namespace recheck {

/// What is kept of a case, as lines without newlines: an earlier run's lines unchanged, otherwise
/// the case's results.
Lines lines_of(const Case& c);

/// FOLDER/record.journal.jsonl: the results of a run so far, safe from a sudden end. The first line
/// is the record without its cases. All others are lines of record.json and samples.jsonl: at the
/// start those of every planned case, then those of each case that finishes, which replace earlier
/// ones. The run's time and the other users of the machine come before each finished case.
/// Rewriting the record instead would take longer than many cases.
///
/// Once append() has returned, its data survives the process, however it ends. A power cut may lose
/// the last second as well.
class Journal {
 public:
  /// Starts a journal with `record` and its finished cases. It replaces the journal that the run
  /// may have resumed from. Throws std::runtime_error, in one line, if it cannot be written; the
  /// earlier one is then kept.
  Journal(const std::filesystem::path& folder, const Record& record);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// Adds a finished case of `record`, and the run's time so far. Throws std::runtime_error, in one
  /// line, on failure; earlier lines stay intact.
  void append(const Case& c, const Record& record);

  /// Call when the record is complete: writes FOLDER/samples.jsonl and FOLDER/record.json, and
  /// removes the journal. Throws std::runtime_error, in one line, on failure, or if the folder was
  /// replaced since the journal began: it may belong to another run.
  void close(const Record& record);

 private:
  std::filesystem::path folder_, path_;
  int file_;
  double synced_ = now();
};

inline std::filesystem::path journal_in(const std::filesystem::path& folder) {
  return folder / "record.journal.jsonl";
}

/// Whether `folder` contains a journal, which means that its run did not finish. Throws
/// std::runtime_error, in one line, if that run is still active.
bool has_journal(const std::filesystem::path& folder);

// resume.cpp

/// What the last run in `folder` wrote: its journal, otherwise record.json and samples.jsonl;
/// nothing if neither exists. Throws std::runtime_error, in one line, if a file is damaged.
std::optional<Earlier> read_earlier(const std::filesystem::path& folder);

/// Writes the record of a run that ended suddenly, as close() would have, from its journal. Throws
/// std::runtime_error, in one line, if the journal does not exist.
void recover(const std::filesystem::path& folder);

/// Moves the last run's files in `folder`, and its counters, into a new folder there, from which
/// the machine that measured them can still resume. Returns that folder.
std::filesystem::path set_aside(const std::filesystem::path& folder);

}  // namespace recheck
