// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "../base/clock.hpp"
#include "plan.hpp"

namespace recheck {

/// Shows the progress of a run on standard error: cases done, the current case, elapsed and
/// remaining time. A terminal gets one line, updated in place; a file gets a line per shape.
class Progress {
 public:
  explicit Progress(const std::vector<Case>& cases) : cases_(cases) {}

  void show(const Case& current) {
    // at most ten updates per second on a terminal, so that printing takes no time from the run
    const bool due = terminal_ ? elapsed() - shown_at_ > 0.1
                               : shown_.experiment == nullptr || !together(current, shown_);
    if (!due) return;
    shown_at_ = elapsed();
    shown_ = current;
    const auto count = std::ranges::count_if(cases_, [](const Case& c) { return !!c.result; });
    std::fprintf(stderr, "%s[%4td/%zu] %-48s elapsed %s, about %s left%s", terminal_ ? "\r" : "",
                 count, cases_.size(), current.id().c_str(), clock(elapsed()).c_str(),
                 clock(others_ + std::max(0.0, shape_ends_ - elapsed())).c_str(),
                 terminal_ ? "   " : "\n");
  }
  /// Call before the cases of this one's shape.
  void begin(const Case& first) {
    const auto of_shape = [&](const Case& c) { return !c.result && together(c, first); };
    shape_ends_ = elapsed() + expected(cases_, of_shape);
    others_ = expected(cases_, [&](const Case& c) { return !c.result && !of_shape(c); });
  }
  [[nodiscard]] double elapsed() const { return now() - start_; }
  static std::string clock(double seconds) {
    const int whole = static_cast<int>(std::lround(seconds));
    return std::to_string(whole / 60) + (whole % 60 < 10 ? ":0" : ":") + std::to_string(whole % 60);
  }
  void end() const {
    if (terminal_) std::fputc('\n', stderr);
  }
  /// Prints another message on its own line.
  void say(const std::string& line) const {
    std::fprintf(stderr, "%s%s\n", terminal_ ? "\n" : "", line.c_str());
  }

 private:
  const std::vector<Case>& cases_;
  double start_ = now();
  double shape_ends_ = 0, others_ = 0;  // seconds: of the current shape, and of all later ones
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  Case shown_{};
  double shown_at_ = -1;
};

}  // namespace recheck
