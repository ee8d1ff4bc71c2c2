// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "../device/target.hpp"
#include "../table/placed.hpp"
#include "../table/result.hpp"

namespace recheck {

// A row's requirements before it can be tried: the build, the device, the shape, memory.

/// Why `strategy` cannot run with this build on this machine, at any shape or at `shape`; nothing
/// if it can. Throws whatever the row's own functions throw.
std::optional<Result> refuse(const Strategy& strategy, const Gpu& gpu);
std::optional<Result> refuse(const Strategy& strategy, const Shape& shape, const Gpu& gpu);

/// The layouts in which a backend's rows take their first input.
std::set<Layout> layouts(const Experiment& experiment, Backend backend);
/// Floats of a backend's largest output storage, from the start of the first output to the end of
/// the last, and of its largest workspace.
std::int64_t largest_output(const Experiment& experiment, const Shape& shape, Backend backend,
                            std::int64_t padding);
std::int64_t largest_workspace(const Experiment& experiment, const Shape& shape, Backend backend);

/// Why a shape cannot be tried with this many free bytes: too little memory, or sums too long for a
/// proof. Nothing if it can.
std::optional<Result> refuse_size(const Experiment& experiment, const Shape& shape, Backend backend,
                                  std::int64_t device_free, std::int64_t host_free);

}  // namespace recheck
