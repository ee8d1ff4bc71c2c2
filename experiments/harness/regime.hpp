// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace recheck {

/// What a timed region starts from, and how far it reaches. cold: caches hold other data. hot: the
/// same launch has just run. end_to_end: nothing is on the device yet; allocate, copy in, run, copy
/// out, free (document S1's scope). inner: one launch repeats its loads and stores, and the time is
/// divided by how often (S3's "inner" loop; its "outer" one is hot).
enum class Regime { cold, hot, end_to_end, inner };

inline constexpr Regime regimes[] = {Regime::cold, Regime::hot, Regime::end_to_end, Regime::inner};

constexpr std::string_view name_of(Regime r) {
  constexpr std::string_view names[] = {"cold", "hot", "end_to_end", "inner"};
  return names[static_cast<int>(r)];
}

/// How often a launch repeats itself in the regime `inner`: NVIDIA's NUM_REPS.
inline constexpr int inner_repeats = 100;

}  // namespace recheck
