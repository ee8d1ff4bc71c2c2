// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "../base/clock.hpp"
#include "record.hpp"

namespace recheck {

/// FOLDER/record.journal.jsonl: what a run has measured so far, safe from its sudden end. The first
/// line is the record as the run found it; each case that has ended has a line with itself, its
/// samples, and who else was there. Writing the record anew each time would take longer than many a
/// case.
///
/// Whatever append() has returned from survives the process, however that ends. A power cut may
/// also take what the last second wrote.
class Journal {
 public:
  /// Begins a journal with `record` and the cases that it knows, in the place of the one that it
  /// may have been resumed from. Throws std::runtime_error, in one line, if that cannot be written;
  /// an earlier one then stays.
  Journal(const std::filesystem::path& folder, const Record& record);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// Adds a case of `record` that has ended, and how long the run has taken. Throws
  /// std::runtime_error, in one line, if it cannot, and leaves the lines before whole.
  void append(const Case& c, const Record& record);

  /// The record is complete: writes FOLDER/samples.jsonl and FOLDER/record.json, and removes the
  /// journal. Throws std::runtime_error, in one line, if it cannot, or if the folder is no longer
  /// the one that the journal began in: it may be another run's.
  void close(const Record& record);

 private:
  std::filesystem::path folder_, path_;
  int file_;
  off_t size_;
  double synced_ = now();
};

/// Whether there is a journal in `folder`, hence a run that came to no end. Throws
/// std::runtime_error, in one line, if that run is still going on.
bool has_journal(const std::filesystem::path& folder);

/// What the last run in `folder` has measured, in the form of a record whose cases hold their
/// samples: from its journal, else from record.json and samples.jsonl; null if there is neither.
/// Throws std::runtime_error, in one line, if one is damaged.
nlohmann::ordered_json read_earlier(const std::filesystem::path& folder);

/// Moves what the last run left in `folder`, and what was counted for it, into a new folder there,
/// from which the machine that measured it can still resume. Returns that folder.
std::filesystem::path set_aside(const std::filesystem::path& folder);

}  // namespace recheck
