// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "case.hpp"

namespace recheck {

/// Calls `body` in a child process, which a row may crash, end, or occupy forever. That row has
/// then failed at that shape, and `body` is called again in a fresh child, which lost_row() tells
/// so. Returns what `body` returns, in the child and in this process; throws in the child only.
/// Passes SIGINT, SIGTERM and SIGHUP on; a second SIGINT ends both. Calls `body` in this process if
/// RECHECK_NO_RESCUE is set, for example for a debugger. CUDA must not be initialized before.
int rescued(const std::function<int()>& body);

/// Whether this process continues the work of an earlier one.
bool is_rescue();

/// The row, with experiment and shape, that ended the earlier process, and why.
struct LostRow {
  std::string row, why;
};
std::optional<LostRow> lost_row();

/// Ends this process, and continues in a fresh one. Returns if rescued() does not watch.
void restart_process();

/// The same, after the current row, which fails with this reason.
void give_row_up(const std::string& why);

/// Sets how many seconds a row may take for one block of launches, or least_patience() if more.
void set_patience(double seconds);
double& least_patience();

/// While alive, a hang is blamed on the row last passed to name_row(). Only one may exist at a
/// time.
class InRow {
 public:
  /// `expected`: estimated seconds of the row's work.
  explicit InRow(double expected = 0);
  InRow(const InRow&) = delete;
  InRow& operator=(const InRow&) = delete;
  ~InRow();
};

/// Sets the function of the experiment that is blamed if the process ends, not the row; null: none.
void name_function(const char* literal);

/// Returns body(), a call of that function of the experiment. Its exceptions name the function.
auto called(const char* literal, const auto& body) {
  std::string why;
  try {
    struct Scope {
      ~Scope() { name_function(nullptr); }
    } const scope;
    name_function(literal);
    return body();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = threw_something;
  }
  throw std::runtime_error("the experiment's `" + std::string(literal) + "` failed: " + why);
}

/// Sets the row and the shape that the next launches belong to.
void name_row(const Case& c);
void name_row(const std::string& id);

}  // namespace recheck
