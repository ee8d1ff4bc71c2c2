// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace recheck {

/// What a case times, from where to where. `regimes` has a row for each.
enum class Regime { cold, drained, hot, end_to_end, first, first_context, inner, sustained };

/// Who times a regime: timer.cpp, in rounds with all rows of a shape; first.cpp, a process for each
/// sample; or sustained.cpp, one row after another, over seconds.
enum class Timing { rounds, processes, seconds };

/// How often a launch repeats its work in the regime `inner`: NVIDIA's NUM_REPS.
inline constexpr int inner_repeats = 100;

/// A regime. The plan, the prediction, the timers, the check, the record and --help read these
/// properties. The report's properties are in reports/recheck_report/record/regimes.py.
struct RegimeKind {
  Regime regime;
  std::string_view name;
  std::string_view meaning;  // for --help
  Timing timing = Timing::rounds;
  int repeats = 1;       // times that a launch does its work; more than 1: for rows that can
  bool flushes = false;  // other data is in L2 before each sample; else the same launch has run
  bool drains = false;   // a sample ends once all that the launch wrote is in DRAM
  bool copies = false;   // times allocations and copies as well, by the host's clock
  bool context = false;  // of processes: times the creation of the CUDA context as well
  bool batches = false;  // short launches share a sample
  bool on_cpu = false;   // CPU rows have it
  bool of_parts = true;  // components of a launch have it
  bool only_if_named = false;  // a full run leaves it out
};

/// Indexed by Regime, in the order of the report. S3's "outer" loop is hot.
// clang-format off
inline constexpr RegimeKind regimes[] = {
    {.regime = Regime::cold, .name = "cold", .meaning = "caches hold other data", .flushes = true},
    {.regime = Regime::drained, .name = "drained", .meaning = "cold, until all written data is in DRAM", .flushes = true, .drains = true, .of_parts = false},
    {.regime = Regime::hot, .name = "hot", .meaning = "right after the same launch; CPU rows run hot only", .batches = true, .on_cpu = true},
    {.regime = Regime::end_to_end, .name = "end_to_end", .meaning = "allocate, copy in, run, copy out, free", .copies = true, .of_parts = false},
    {.regime = Regime::first, .name = "first", .meaning = "end_to_end, as the first GPU work of a process that has a CUDA context", .timing = Timing::processes, .copies = true, .of_parts = false, .only_if_named = true},
    {.regime = Regime::first_context, .name = "first_context", .meaning = "first, with the creation of the context", .timing = Timing::processes, .copies = true, .context = true, .of_parts = false, .only_if_named = true},
    {.regime = Regime::inner, .name = "inner", .meaning = "one launch repeats its work, and the time is divided; for rows that can", .repeats = inner_repeats},
    {.regime = Regime::sustained, .name = "sustained", .meaning = "launches back to back over rotated inputs until clock and power have settled", .timing = Timing::seconds},
};
// clang-format on
constexpr const RegimeKind& kind_of(Regime regime) { return regimes[static_cast<int>(regime)]; }
constexpr std::string_view name_of(Regime regime) { return kind_of(regime).name; }
static_assert([] {
  for (const auto& kind : regimes)
    if (&kind_of(kind.regime) != &kind) return false;
  return true;
}());

}  // namespace recheck
