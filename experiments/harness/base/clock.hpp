// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace recheck {

/// Seconds on a clock that never goes back.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
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
