// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "../device/load_monitor.hpp"
#include "case.hpp"

namespace recheck {

/// Thrown when an error has destroyed the device's context. Every later CUDA call of the process
/// fails, so a new process has to measure the rest.
struct DeviceLost {};

/// Finishes cases and reports them. Any of its functions may be left out: tests keep no journal.
struct Reporter {
  std::function<void(const Case&)> on_case = [](const Case&) {};    // before its proofs and blocks
  std::function<void(const Case&)> on_finish = [](const Case&) {};  // once it has its result
  std::function<Load()> take_load = [] { return Load{}; };          // since the previous call

  /// The only place that gives a case its result. Journals it at once.
  void finish(Case& c, const Result& result) const;

  /// Calls `body`. If it returns a result or throws, that becomes the result of `cases`. Throws
  /// DeviceLost, after finishing these cases, if `target` is no longer usable.
  void attempt(std::span<Case* const> cases, Target& target,
               const std::function<std::optional<Result>()>& body) const;

  /// attempt() that shows the first of `cases` and adds the time to it; nothing if it already has a
  /// result, or if the run is interrupted.
  void spend(std::span<Case* const> cases, Target& target,
             const std::function<std::optional<Result>()>& body) const;
};

}  // namespace recheck
