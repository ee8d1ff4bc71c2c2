// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace recheck::kernels {

/// A pointer that is looked for until it is found, and then kept: what failed once, before the
/// driver was ready say, may succeed later. For any number of threads.
template <typename Pointer>
class Found {
 public:
  /// What `look` has found, now or earlier; null where it finds nothing.
  template <typename Look>
  Pointer get(Look look) {
    if (const Pointer known = pointer_.load(std::memory_order_acquire)) return known;
    const Pointer found = look();
    if (found != nullptr) pointer_.store(found, std::memory_order_release);
    return found;
  }

 private:
  std::atomic<Pointer> pointer_ = nullptr;
};

}  // namespace recheck::kernels
