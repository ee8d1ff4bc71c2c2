// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cuda.hpp"
#include "device_kernels.hpp"

namespace recheck {

/// Measures the clock of the multiprocessors while something runs.
class SmClock {
 public:
  static constexpr int most_readings = 64;

  SmClock(int sm_count, cudaStream_t stream) : sm_count_(sm_count), stream_(stream) {}

  /// Queues the removal of the first `count` readings.
  void clear(int count) {
    check(cudaMemsetAsync(at(0), 0, count * clock_slots * sizeof(ClockReading), stream_));
  }
  /// Queues the i-th reading.
  void read(int i) { read_clocks(at(i), sm_count_, stream_); }
  /// The clock between each even one of `count` readings and the next odd one, in hertz, on a
  /// multiprocessor that both readings contain; otherwise 0. Waits.
  [[nodiscard]] std::vector<double> between(int count) const {
    std::vector<ClockReading> all(static_cast<std::size_t>(count) * clock_slots);
    check(cudaMemcpy(all.data(), at(0), all.size() * sizeof(ClockReading), cudaMemcpyDeviceToHost));
    std::vector<double> clocks;
    for (const auto* pair = all.data(); clocks.size() < static_cast<std::size_t>(count) / 2;
         pair += 2 * clock_slots) {
      double clock = 0;
      for (int sm = 0; sm < clock_slots && clock == 0; ++sm) {
        const auto &begin = pair[sm], &end = pair[clock_slots + sm];
        if (begin.nanoseconds == 0 || end.nanoseconds <= begin.nanoseconds) continue;
        clock = 1e9 * static_cast<double>(end.cycles - begin.cycles) /
                static_cast<double>(end.nanoseconds - begin.nanoseconds);
      }
      clocks.push_back(clock);
    }
    return clocks;
  }

 private:
  [[nodiscard]] ClockReading* at(int i) const {
    return reinterpret_cast<ClockReading*>(+readings_) + i * clock_slots;
  }

  int sm_count_;
  cudaStream_t stream_;
  DeviceFloats readings_{most_readings * clock_slots *
                         static_cast<std::int64_t>(sizeof(ClockReading) / sizeof(float))};
};

}  // namespace recheck
