// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace recheck {

/// Reads `bytes` of `buffer`, so that the L2 cache holds that and nothing else, clean.
void flush_l2(const float4* buffer, std::int64_t bytes, float* sink, cudaStream_t stream);

/// Keeps the stream busy until *released, in memory of the host, is at least `until`; no longer
/// than so many nanoseconds, and as long as that where `released` is null.
void hold(const std::int64_t* released, std::int64_t until, std::int64_t nanoseconds,
          cudaStream_t stream);

/// Exchanges what two arrays of `count` floats hold; `a` is written last.
void exchange(float* a, float* b, std::int64_t count, cudaStream_t stream);

/// Fills the shared memory of every multiprocessor with NaN.
void poison_shared(int sm_count, int bytes_per_block, cudaStream_t stream);

/// Adds the digest of `count` words, as mix.hpp makes it, to *sum.
void add_digest(const float* words, std::int64_t count, unsigned long long* sum,
                cudaStream_t stream);

/// A multiprocessor's cycle counter and the global timer, read at one moment; 0 where no block ran.
struct ClockReading {
  std::int64_t cycles, nanoseconds;
};
inline constexpr int clock_slots = 16;

/// Reads the clocks of the first multiprocessors into readings[smid], by a block on each.
void read_clocks(ClockReading* readings, int sm_count, cudaStream_t stream);

}  // namespace recheck
