// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "cuda.hpp"
#include "device_kernels.hpp"

namespace recheck {

/// Holds a stream until the host has queued all work that must run without gaps.
class Hold {
 public:
  Hold() {
    check(cudaHostAlloc(&released_, sizeof *released_, cudaHostAllocMapped));
    *released_ = 0;
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() { cudaFreeHost(released_); }

  /// Work queued after this call waits for release(), but at most 2 ms, as a launch may itself wait
  /// for the stream.
  void begin(cudaStream_t stream) { hold(released_, ++held_, 2'000'000, stream); }
  void release() { std::atomic_ref(*released_).store(held_, std::memory_order_release); }

 private:
  std::int64_t* released_ = nullptr;  // number of releases, visible to the device
  std::int64_t held_ = 0;
};

}  // namespace recheck
