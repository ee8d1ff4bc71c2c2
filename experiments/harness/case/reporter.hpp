// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "../device/load_monitor.hpp"
#include "case.hpp"

namespace recheck {

/// Thrown when an error has taken the device's context with it. Every later CUDA call of the
/// process fails, so what is left to measure needs a new process.
struct DeviceLost {};

/// Where cases come to their end. Its functions may be missing: tests keep no journal.
struct Reporter {
  std::function<void(const Case&)> on_case = {};    // the case at hand: before proofs and blocks
  std::function<void(const Case&)> on_finish = {};  // a case that has come to its result
  std::function<Load()> load = {};                  // of the GPU since the call before

  void show(const Case& c) const {
    if (on_case) on_case(c);
  }
  Load take_load() const { return load ? load() : Load{}; }

  /// Gives a case its result, and has it journaled at once. Nothing else gives it one.
  void finish(Case& c, const Result& result) const;

  /// Calls `body`. What it returns, if anything, or what it throws is the result of `cases`. Throws
  /// DeviceLost where `target` is of no use any more, with these cases finished.
  void attempt(std::span<Case* const> cases, Target& target,
               const std::function<std::optional<Result>()>& body) const;
};

}  // namespace recheck
