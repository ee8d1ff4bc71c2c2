// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case.hpp"

namespace recheck {

/// A row runs in this process, so it can crash it, or never return from a launch. A fresh process
/// then replaces this one and continues after that row, which has failed at that shape. Earlier
/// results are in the journal.
class Rescue {
 public:
  /// Active while this object lives. `words` are the process's arguments. A row may take
  /// `seconds` for one block of launches, or least_patience() if that is more.
  Rescue(const std::vector<char*>& words, double seconds);
  Rescue(const Rescue&) = delete;
  Rescue& operator=(const Rescue&) = delete;
  ~Rescue();
};

/// Replaces this process, started with the arguments `words`, by a fresh one with --resume.
[[noreturn]] void restart_process(const std::vector<char*>& words);

/// For std::atexit. If a row called exit(), fails that row and restarts. Otherwise does nothing.
void rescue_from_exit();

/// The shortest time limit, in seconds, for a block of launches.
double& least_patience();

/// While alive, a crash or hang is blamed on the row last passed to name_row(). Only one may exist
/// at a time, on the thread that calls rows.
class InRow {
 public:
  /// `expected`: estimated seconds of the row's work.
  explicit InRow(double expected = 0);
  InRow(const InRow&) = delete;
  InRow& operator=(const InRow&) = delete;
  ~InRow();
};

/// Sets the row and the shape that the next launches belong to.
void name_row(const Case& c);
void name_row(const std::string& id);

/// Restarts in a fresh process after the current row, which fails with this reason. Returns
/// only without a Rescue.
void give_row_up(const std::string& why);

/// The row, with experiment and shape, that ended the previous process, and why.
struct LostRow {
  std::string row, why;
};
std::optional<LostRow> lost_row();

/// Whether this process has replaced a crashed one; call it before lost_row().
bool is_rescue();

}  // namespace recheck
