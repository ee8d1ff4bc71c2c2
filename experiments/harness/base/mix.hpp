// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <span>

#ifdef __CUDACC__
#define RECHECK_HOST_DEVICE __host__ __device__
#else
#define RECHECK_HOST_DEVICE
#endif

namespace recheck {

/// splitmix64's finalizer: every bit of x reaches every bit of the value.
RECHECK_HOST_DEVICE constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The contribution of word number `at` to an array's digest. Arrays with equal digests are taken
/// to be equal bit by bit.
RECHECK_HOST_DEVICE constexpr std::uint64_t mix(std::uint32_t word, std::int64_t at) {
  return mix(static_cast<std::uint64_t>(at) << 32 ^ word);
}
std::uint64_t digest(std::span<const float> on_the_host);

/// Unpredictable random bits.
inline std::uint64_t drawn() {
  std::random_device random;
  const std::uint64_t high = random();
  return high << 32 | random();
}

}  // namespace recheck
