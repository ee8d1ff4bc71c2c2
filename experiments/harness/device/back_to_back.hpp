// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cuda.hpp"

namespace recheck {

/// Launches in chunks of a few milliseconds that follow each other without a gap: the device always
/// has more of them queued than the host takes for a look at a counter.
class BackToBack {
 public:
  using Mark = std::function<void(std::int64_t chunk, bool begins)>;

  /// `guess`: about what a launch takes, in seconds.
  BackToBack(cudaStream_t stream, double guess)
      : stream_(stream), launches_(std::max(1, static_cast<int>(5e-3 / guess))) {
    const int ahead = std::max(3, static_cast<int>(40e-3 / (launches_ * guess)));
    for (int i = 0; i < ahead; ++i)
      events_.push_back(std::make_unique<Event>([](cudaEvent_t* e) { check(cudaEventCreate(e)); }));
  }

  [[nodiscard]] int launches() const { return launches_; }       // of a chunk
  [[nodiscard]] std::int64_t queued() const { return queued_; }  // chunks
  /// Of each chunk that has ended; 0 for the first.
  [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }

  /// Queues so many chunks that the device has enough to do; `mark` may queue something at either
  /// end of each.
  void feed(const std::function<void()>& launch, const Mark& mark = [](std::int64_t, bool) {}) {
    for (auto done = std::ssize(seconds_); done < queued_; ++done) {
      const auto code = cudaEventQuery(event(done));
      if (code == cudaErrorNotReady) break;
      check(code);
      float milliseconds = 0;
      if (done > 0) check(cudaEventElapsedTime(&milliseconds, event(done - 1), event(done)));
      seconds_.push_back(milliseconds * 1e-3);
    }
    cudaGetLastError();  // launches look at it
    // one less than there are events: that of the last chunk that has ended is needed once more
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
