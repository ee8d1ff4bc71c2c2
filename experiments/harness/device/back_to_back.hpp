// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cuda.hpp"

namespace recheck {

/// Queues launches in chunks of a few milliseconds without gaps: the device always has more work
/// queued than the host needs time to read a counter.
class BackToBack {
 public:
  using Mark = std::function<void(std::int64_t chunk, bool begins)>;

  /// `guess`: estimated seconds of one launch.
  BackToBack(cudaStream_t stream, double guess)
      : stream_(stream), launches_(std::max(1, static_cast<int>(5e-3 / guess))) {
    const int ahead = std::max(3, static_cast<int>(40e-3 / (launches_ * guess)));
    for (int i = 0; i < ahead; ++i)
      events_.push_back(std::make_unique<Event>([](cudaEvent_t* e) { check(cudaEventCreate(e)); }));
  }

  [[nodiscard]] int launches() const { return launches_; }       // per chunk
  [[nodiscard]] std::int64_t queued() const { return queued_; }  // chunks
  /// Seconds of each chunk that has ended; 0 for the first.
  [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }

  /// Queues enough chunks to keep the device busy. `mark` may queue something before and after each
  /// chunk.
  void feed(const std::function<void()>& launch, const Mark& mark = [](std::int64_t, bool) {}) {
    for (auto done = std::ssize(seconds_); done < queued_; ++done) {
      const auto code = cudaEventQuery(event(done));
      if (code == cudaErrorNotReady) break;
      check(code);
      float milliseconds = 0;
      if (done > 0) check(cudaEventElapsedTime(&milliseconds, event(done - 1), event(done)));
      seconds_.push_back(milliseconds * 1e-3);
    }
    cudaGetLastError();  // clears earlier errors
    // one chunk less than there are events: the end of the last finished chunk is needed once more
    for (; queued_ < std::ssize(seconds_) + std::ssize(events_) - 1; ++queued_) {
      mark(queued_, true);
      for (int i = 0; i < launches_; ++i) launch();
      check(cudaGetLastError());
      mark(queued_, false);
      check(cudaEventRecord(event(queued_), stream_));
    }
  }

 private:
  [[nodiscard]] cudaEvent_t event(std::int64_t chunk) const {
    return *events_[static_cast<std::size_t>(chunk) % events_.size()];
  }

  cudaStream_t stream_;
  int launches_;
  std::int64_t queued_ = 0;
  std::vector<double> seconds_;
  std::vector<std::unique_ptr<Event>> events_;
};

}  // namespace recheck
