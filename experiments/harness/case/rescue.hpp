// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case.hpp"

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
void name_row(const std::string& id);

/// Goes on in a fresh process behind the row that was named last, which is lost for this reason.
/// Returns where there is no Rescue.
void give_row_up(const std::string& why);

/// The row, with its experiment and shape, at which the process before this one has ended, and why.
struct LostRow {
  std::string row, why;
};
std::optional<LostRow> lost_row();

/// Whether this process has taken the place of another; to be asked before lost_row().
bool is_rescue();

}  // namespace recheck
