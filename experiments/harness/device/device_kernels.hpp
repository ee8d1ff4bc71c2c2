// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace recheck {

/// Keeps the stream busy until *released, in host memory, is at least `until`, but no longer than
/// this many nanoseconds. If `released` is null, always waits this long.
void hold(const std::int64_t* released, std::int64_t until, std::int64_t nanoseconds,
          cudaStream_t stream);

/// Swaps the contents of two arrays of `count` floats; writes `a` last.
void exchange(float* a, float* b, std::int64_t count, cudaStream_t stream);

/// Fills the shared memory of every multiprocessor with NaN.
void poison_shared(int sm_count, int bytes_per_block, cudaStream_t stream);

/// Adds the digest (mix.hpp) of `count` words to *sum.
void add_digest(const float* words, std::int64_t count, unsigned long long* sum,
                cudaStream_t stream);

/// A multiprocessor's cycle counter and the global timer, read together; 0 if no block ran there.
struct ClockReading {
  std::int64_t cycles, nanoseconds;
};
inline constexpr int clock_slots = 16;

/// Reads the clocks of the first `sm_count` multiprocessors into readings[smid], a block on each.
void read_clocks(ClockReading* readings, int sm_count, cudaStream_t stream);

}  // namespace recheck
