// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../harness/self/self.hpp"
#include "../harness/table/limits.hpp"
#include "memory.hpp"

namespace recheck::memory {
namespace {

namespace k = kernels::memory;

using Fits = Reason (*)(const Shape&, const Device&);

/// A cache of `bytes` bytes has to hold all words.
Reason cache_holds(std::int64_t words, std::int64_t bytes, const std::string& cache) {
  const auto needed = words * static_cast<std::int64_t>(sizeof(float));
  if (needed <= bytes) return {};
  return "needs " + std::to_string(needed) + " B in " + cache + ", which holds " +
         std::to_string(bytes) + " B";
}
Reason shared_holds(const Shape& s, const Device& device) {
  return shared_memory_fits(k::staged_bytes(s[0]) + k::folding_bytes, device);
}
Reason l1_holds(const Shape& s, const Device&) {
  return cache_holds(s[0], 65536, "an L1 cache next to shared memory");
}
Reason constant_holds(const Shape& s, const Device&) {
  return cache_holds(s[0], k::constant_words * std::int64_t{sizeof(float)}, "constant memory");
}
Reason l2_holds(const Shape& s, const Device& device) {
  return cache_holds(s[0], device.l2_bytes, "the L2 cache");
}

template <Fits holds>
Reason read_fits(const Shape& s, const Device& device) {
  return s[0] > 0 ? holds(s, device) : "there is no word to read";
}
/// A line that is visited again comes from a cache.
Reason never_visits_twice(const Shape& s, const Device&) {
  constexpr std::int64_t least = std::int64_t{k::far_steps} * k::line_words;
  if (s[0] >= least) return {};
  return "needs " + std::to_string(least) + " words, or lines come from a cache the second time";
}

constexpr Source source = {"Recheck", "the levels of memory"};

constexpr Strategy latency(std::string_view name, Launcher launch, const Problem& problem,
                           int steps, Fits fits) {
  return {.name = name,
          .source = source,
          .role = Role::roof,
          .note = "one logic instruction between two loads included",
          .parameters = {{{"steps", steps}}},
          .problem = &problem,
          .fits = fits,
          .launch = launch};
}

constexpr Strategy bandwidth(std::string_view name, Launcher launch, Fits fits,
                             const Problem& problem = passing) {
  return {.name = name,
          .source = source,
          .role = Role::roof,
          .parameters = {{{"passes", k::passes}}},
          .problem = &problem,
          .fits = fits,
          .launch = launch};
}

/// A row of the machine's ceilings, with its name in this table.
Strategy ceiling(std::string_view name, std::string_view of, int passes, Fits fits) {
  Strategy row = *std::ranges::find(machine::experiment().ladder, of, &Strategy::name);
  row.name = name;
  row.source = source;
  row.parameters[0] = {"passes", passes};
  row.fits = fits;
  return row;
}

}  // namespace

std::span<const Strategy> ladder() {
  static const Strategy rows[] = {
      latency("latency_shared", gpu<k::latency_shared>, near_chase, k::near_steps,
              read_fits<shared_holds>),
      latency("latency_l1", gpu<k::latency_l1>, near_chase, k::near_steps, read_fits<l1_holds>),
      latency("latency_constant", gpu<k::latency_constant>, near_chase, k::near_steps,
              read_fits<constant_holds>),
      latency("latency_l2", gpu<k::latency_far>, far_chase, k::far_steps, read_fits<l2_holds>),
      latency("latency_dram", gpu<k::latency_far>, far_chase, k::far_steps, never_visits_twice),
      bandwidth("bandwidth_shared", gpu<k::bandwidth_shared>, shared_holds),
      bandwidth("bandwidth_l1", gpu<k::bandwidth_l1>, l1_holds),
      bandwidth("uniform_shared", gpu<k::uniform_shared>, read_fits<shared_holds>),
      bandwidth("uniform_constant", gpu<k::uniform_constant>, read_fits<constant_holds>),
      bandwidth("uniform_l1", gpu<k::uniform_l1>, read_fits<l1_holds>),
      ceiling("bandwidth_l2", "l2_read", kernels::machine::l2_passes, l2_holds),
      ceiling("bandwidth_dram", "read", 1, nullptr),
      bandwidth("write_shared", gpu<k::write_shared>, shared_holds, overwriting),
      ceiling("write_dram", "write", 1, nullptr),
  };
  return rows;
}

}  // namespace recheck::memory
