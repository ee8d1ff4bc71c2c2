// SPDX-License-Identifier: Apache-2.0
#pragma once

// Dispatch by measurement: what a `best` launcher of any experiment chooses by. The tables are the
// fastest rungs of a report, taken over by kernels/best.py; the choice at a shape that nobody has
// measured is that of the nearest one that somebody has, or, where rungs say how they cut their
// work, the one that is expected to be the fastest (cost.hpp).

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numbers>
#include <span>
#include <string_view>
#include <type_traits>

#include "cost.hpp"
#include "stream.hpp"

namespace recheck::kernels {

/// A GPU as far as tables of measurements tell one from another: 90 is compute capability 9.0. And,
/// which tables do not ask, what the code that it runs of this build was made for.
struct GpuModel {
  int compute_capability, multiprocessors;
  int code = 0;
  friend bool operator==(const GpuModel& a, const GpuModel& b) {
    return a.compute_capability == b.compute_capability && a.multiprocessors == b.multiprocessors;
  }
};

/// The row that was fastest on a GPU at a shape.
template <int axes>
struct Fastest {
  GpuModel gpu;
  int shape[axes];
  std::string_view name;
};

/// A row that may be chosen.
template <typename Args>
struct Choice {
  std::string_view name;
  int least;           // what its code has to be made for
  int most = 1 << 30;  // the GPU's compute capability
  Plan plan = {};
  void (*launch)(const Args&, const Queue&);
  bool (*fits)(const Args&) = nullptr;            // those that it takes, if not all
  std::int64_t (*floats)(const Args&) = nullptr;  // of workspace, if any
  // where it is taken before all others, whatever tables and costs say
  bool (*first)(const GpuModel&, const Args&) = nullptr;

  /// Whether it takes these arguments on this GPU; each of the two by itself.
  constexpr bool runs_on(const GpuModel& gpu) const {
    return least <= gpu.code && gpu.compute_capability <= most;
  }
  bool takes(const Args& args) const { return fits == nullptr || fits(args); }
};

/// The most for code that is Hopper's alone, sm_90a: none where the build has no such code.
#ifdef RECHECK_HAVE_SM90A
inline constexpr int hopper_only = 90;
#else
inline constexpr int hopper_only = 0;
#endif

/// A launcher `f(args, stream)` or `f(args, queue)` as a Choice takes it.
template <auto f, typename Args>
constexpr auto queued = [](const Args& args, const Queue& queue) {
  if constexpr (std::is_invocable_v<decltype(f), const Args&, const Queue&>)
    f(args, queue);
  else
    f(args, queue.stream);
};

/// The choices of a `best`, of which the first runs everywhere and takes everything, and what was
/// fastest where it was measured.
template <typename Args, int axes>
struct Rungs {
  std::span<const Choice<Args>> choices;
  std::span<const Fastest<axes>> table;
  std::span<const Cost> costs = {};
  bool (*vectors)(const Args&) = nullptr;  // whether they fit all over, for the costs

  /// Null where there is none of that name.
  constexpr const Choice<Args>* named(std::string_view name) const {
    for (const auto& choice : choices)
      if (choice.name == name) return &choice;
    return nullptr;
  }

  /// Whether every name of the tables is a choice: to be asserted when it is compiled.
  constexpr bool known() const {
    for (const auto& entry : table)
      if (named(entry.name) == nullptr) return false;
    for (const auto& cost : costs)
      if (named(cost.name) == nullptr) return false;
    return true;
  }
};

/// What was fastest nearest to a shape, and how far that is, as a factor: from another GPU's shapes
/// very far.
template <typename Args>
struct Nearest {
  const Choice<Args>* choice;
  double distance;
};

/// What was fastest nearest to `shape` on this GPU, of what takes `args`, by the product of their
/// proportions; where vectors of four words divide an extent of only one of them, that counts like
/// a factor of two. On another GPU where the table does not know this one. The first choice where
/// the table knows nothing that runs here.
template <typename Args, int axes>
Nearest<Args> nearest(const Rungs<Args, axes>& rungs, const GpuModel& here, const Args& args,
                      const int (&shape)[axes]) {
  constexpr double another_gpu = 1e100, nowhere = 1e300;  // farther than any shape
  Nearest<Args> found = {&rungs.choices.front(), nowhere};
  for (const auto& entry : rungs.table) {
    double distance = entry.gpu == here ? 1 : another_gpu;
    for (int i = 0; i < axes; ++i) {
      const double a = shape[i] + 1.0, b = entry.shape[i] + 1.0;
      distance *= std::max(a, b) / std::min(a, b);
      if ((shape[i] % 4 == 0) != (entry.shape[i] % 4 == 0)) distance *= 2;
    }
    if (distance >= found.distance) continue;
    const auto* choice = rungs.named(entry.name);
    if (choice->runs_on(here) && choice->takes(args)) found = {choice, distance};
  }
  return found;
}

/// The choice that is expected to be the fastest for a product, by the costs on this GPU, else on
/// the one that is most like it; null where no cost is known of what runs here and takes `args`.
template <typename Args>
const Choice<Args>* cheapest(const Rungs<Args, 3>& rungs, const GpuModel& here, const Args& args,
                             const int (&product)[3]) {
  const auto unlike = [&](const Cost& cost) {
    return std::abs(std::int64_t{cost.compute_capability} - here.compute_capability) * 1000 +
           std::abs(std::int64_t{cost.multiprocessors} - here.multiprocessors);
  };
  const bool vectors = rungs.vectors == nullptr || rungs.vectors(args);
  const Choice<Args>* best = nullptr;
  std::int64_t least_unlike = 0;
  float least = 0;
  for (const auto& cost : rungs.costs) {
    const auto how_unlike = unlike(cost);
    if (best != nullptr && how_unlike > least_unlike) continue;
    const auto* choice = rungs.named(cost.name);
    if (!choice->runs_on(here) || !choice->takes(args)) continue;
    const float time = expected(choice->plan, cost, here.multiprocessors, vectors, product);
    if (best != nullptr && how_unlike == least_unlike && time >= least) continue;
    best = choice;
    least_unlike = how_unlike;
    least = time;
  }
  return best;
}

/// The rung for these arguments on this GPU: the one that comes first there; else what was fastest,
/// if the shape or one very like it was measured there; else what is expected to be the fastest;
/// where no costs are known, what was fastest nearest to it. Takes about a microsecond at most.
template <typename Args, int axes>
const Choice<Args>& choose(const Rungs<Args, axes>& rungs, const GpuModel& here, const Args& args,
                           const int (&shape)[axes]) {
  // all extents together by less than half a factor of two
  constexpr double very_like = std::numbers::sqrt2;
  for (const auto& choice : rungs.choices)
    if (choice.first != nullptr && choice.runs_on(here) && choice.takes(args) &&
        choice.first(here, args))
      return choice;
  const auto measured = nearest(rungs, here, args, shape);
  if constexpr (axes == 3) {
    if (measured.distance > very_like)
      if (const auto* best = cheapest(rungs, here, args, shape)) return *best;
  }
  return *measured.choice;
}

/// The current device; throws nothing, and has a compute capability of 0 where there is none.
GpuModel current_gpu();

}  // namespace recheck::kernels
