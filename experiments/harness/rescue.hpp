// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "record.hpp"

namespace recheck {

/// A row runs in this process, so it can end it by a signal, or never come back from a launch. Then
/// a fresh process takes the place of this one and goes on behind that row, which has failed at
/// that shape; what was measured before is in the journal.
class Rescue {
 public:
  /// From now on, for as long as this lives. `words` are the process's own arguments; a row may
  /// take `seconds` for one block of launches, or the least patience, if that is more.
  Rescue(const std::vector<char*>& words, double seconds);
  Rescue(const Rescue&) = delete;
  Rescue& operator=(const Rescue&) = delete;
  ~Rescue();
};

/// Replaces this process, whose arguments are `words`, by a fresh one with --resume.
[[noreturn]] void start_anew(const std::vector<char*>& words);

/// The same where a row calls exit(), which has failed then; else nothing. For std::atexit.
void rescue_from_exit();

/// Seconds that any block of launches may take at least.
double& least_patience();

/// While one lives, what happens is the doing of the row that was named last. One at a time, and on
/// the one thread that calls rows.
class InRow {
 public:
  /// `expected`: about how many seconds the row will take.
  explicit InRow(double expected = 0);
  InRow(const InRow&) = delete;
  InRow& operator=(const InRow&) = delete;
  ~InRow();
};

/// Names the row whose launches come next, and the shape.
void name_row(const Case& c);

/// Has those cases failed, of a run that is resumed, at which the process before has ended. Throws
/// std::runtime_error, in one line, if there is none of them left: it would end there again.
void fail_what_was_lost(std::vector<Case>& cases);

/// How many processes the kernel has killed on this host because memory was short, if it says so.
std::optional<std::int64_t> kills_for_memory();

/// FOLDER/record.running: which row runs, and at which shape. Nothing can be done when the kernel
/// kills this process, but the file stays then; an end in order removes it.
class RowOnDisk {
 public:
  explicit RowOnDisk(const std::filesystem::path& folder);
  RowOnDisk(const RowOnDisk&) = delete;
  RowOnDisk& operator=(const RowOnDisk&) = delete;
  ~RowOnDisk();

 private:
  std::filesystem::path path_;
};

/// Has the row failed that ran when a process was killed, if the kernel has killed one for want of
/// memory since; and all rows at that shape, where that has come about a second time.
void fail_what_was_killed(std::vector<Case>& cases, const std::filesystem::path& folder,
                          std::optional<std::int64_t> kills = kills_for_memory());

}  // namespace recheck
