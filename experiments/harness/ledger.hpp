// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace recheck {

/// Seconds on a clock that never goes back.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What the wall time of a run went into, in seconds. What is missing to the whole is the harness's
/// own.
struct Ledger {
  double verified_kernels = 0;   // launches of strategies, proofs and samples
  double flushes_and_holds = 0;  // what samples need around their launches
  double references = 0;         // computing truths, and comparing with them
  double inputs_and_copies = 0;  // making inputs, moving operands and outputs
  double saving = 0;
};

inline Ledger operator+(const Ledger& a, const Ledger& b) {
  return {a.verified_kernels + b.verified_kernels, a.flushes_and_holds + b.flushes_and_holds,
          a.references + b.references, a.inputs_and_copies + b.inputs_and_copies,
          a.saving + b.saving};
}

/// Books the time of its scope.
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
