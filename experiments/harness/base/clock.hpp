// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

namespace recheck {

/// Seconds on a clock that never goes back.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The smallest difference between two readings of now(), in whole nanoseconds but given in
/// seconds: the clock's step, or the time that a reading takes if that is longer.
inline double host_clock_step() {
  static const double step = [] {
    double least = 1;
    for (int i = 0; i < 100; ++i) {
      const double start = now();
      double end = start;
      while (end == start) end = now();
      least = std::min(least, end - start);
    }
    return std::ceil(least * 1e9) * 1e-9;
  }();
  return step;
}

/// Adds the seconds that its scope lasts to an account.
class Spend {
 public:
  explicit Spend(double& account) : account_(account) {}
  Spend(const Spend&) = delete;
  Spend& operator=(const Spend&) = delete;
  ~Spend() { account_ += now() - start_; }

 private:
  double& account_;
  double start_ = now();
};

}  // namespace recheck
