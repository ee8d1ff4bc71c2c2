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

/// Where a run is, on standard error: cases done, the one at hand, elapsed and expected time. One
/// line that renews itself on a terminal; elsewhere a line per shape.
class Progress {
 public:
  explicit Progress(const std::vector<Case>& cases) : cases_(cases) {}

  void show(const Case& current) {
    // on a terminal at most ten times a second: the run's time is not for printing
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
  /// The cases of this one's shape come next.
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
  /// Says something else in a line of its own.
  void say(const std::string& line) const {
    std::fprintf(stderr, "%s%s\n", terminal_ ? "\n" : "", line.c_str());
  }

 private:
  const std::vector<Case>& cases_;
  double start_ = now();
  double shape_ends_ = 0, others_ = 0;  // seconds: of the shape at hand, and of all behind it
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  Case shown_{};
  double shown_at_ = -1;
};

}  // namespace recheck
