// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "experiment.hpp"

namespace recheck {

enum class Status { passed, incorrect, failed, unsupported, not_run };

constexpr std::string_view name_of(Status s) {
  constexpr std::string_view names[] = {"passed", "incorrect", "failed", "unsupported", "not_run"};
  return names[static_cast<int>(s)];
}

/// Why a case has no time: the closed list for programs. The reason explains it to a person.
enum class ReasonCode {
  not_reached,       // the run was interrupted earlier
  no_gpu,            // no usable device
  not_built,         // the build lacks the row's code or library
  too_slow,          // its proof and fewest samples would take too long
  budget,            // --budget was used up
  needs_capability,  // the row's `needs` refuses this device
  does_not_fit,      // its `fits` refuses this shape
  no_memory,         // too little is free for the shape
  no_bound,          // sums too long to be proven
  wrong_output,
  wrote_outside,  // outside the output and the workspace
  changed_input,
  out_of_memory,  // an allocation failed
  launch_error,   // CUDA reported one
  threw,          // the row threw an exception
  process_died,   // the row ended the process, or never returned
  unsound_check,  // the experiment's check accepts spoiled outputs
};

struct ReasonKind {
  std::string_view name;
  Status status;
};
/// Indexed by ReasonCode.
inline constexpr ReasonKind reason_kinds[] = {
    {"not_reached", Status::not_run},
    {"no_gpu", Status::not_run},
    {"not_built", Status::not_run},
    {"too_slow", Status::not_run},
    {"budget", Status::not_run},
    {"needs_capability", Status::unsupported},
    {"does_not_fit", Status::unsupported},
    {"no_memory", Status::unsupported},
    {"no_bound", Status::unsupported},
    {"wrong_output", Status::incorrect},
    {"wrote_outside", Status::incorrect},
    {"changed_input", Status::incorrect},
    {"out_of_memory", Status::failed},
    {"launch_error", Status::failed},
    {"threw", Status::failed},
    {"process_died", Status::failed},
    {"unsound_check", Status::failed},
};
constexpr const ReasonKind& kind_of(ReasonCode code) {
  return reason_kinds[static_cast<int>(code)];
}

/// The result of a proof or of a case. Anything but `passed` has a reason and its code.
struct Result {
  Status status = Status::not_run;
  Reason reason = {};
  std::optional<Error> error = {};
  std::optional<ReasonCode> code = {};

  [[nodiscard]] bool passed() const { return status == Status::passed; }
};

/// A result with the status that a code implies.
inline Result because(ReasonCode code, std::string reason, std::optional<Error> error = {}) {
  return {kind_of(code).status, std::move(reason), std::move(error), code};
}

/// An error that CUDA reports for a call or a launch.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(const std::string& what, bool out_of_memory)
      : std::runtime_error(what), out_of_memory(out_of_memory) {}
  bool out_of_memory;
};

/// The message for insufficient memory of a "GPU" or a "host"; amounts in bytes.
std::string not_enough_memory(const std::string& where, double needed, double free);

/// The reason of a launch that throws something other than a std::exception.
inline constexpr auto threw_something = "it threw something other than a std::exception";

/// Calls `body`. Returns what it throws as a result with a one-line reason, or nothing.
std::optional<Result> failure_of(const std::function<void()>& body);

}  // namespace recheck
