// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "cuda.hpp"
#include "device_kernels.hpp"

namespace recheck {

/// Holds a stream until the host has queued all that shall run without gaps.
class Hold {
 public:
  Hold() {
    check(cudaHostAlloc(&released_, sizeof *released_, cudaHostAllocMapped));
    *released_ = 0;
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() { cudaFreeHost(released_); }

  /// What is queued behind this waits for release(); but not for ever, as a launch may wait for the
  /// stream itself.
  void begin(cudaStream_t stream) { hold(released_, ++held_, 2'000'000, stream); }
  void release() { std::atomic_ref(*released_).store(held_, std::memory_order_release); }

 private:
  std::int64_t* released_ = nullptr;  // how many have been, where the device sees it
  std::int64_t held_ = 0;
};

}  // namespace recheck
