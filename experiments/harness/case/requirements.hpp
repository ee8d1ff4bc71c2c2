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

// What a row needs before it can be tried: the build, the device, the shape, memory.

/// Why `strategy` is not to be tried with this build on this machine, at any shape or at `shape`;
/// nothing if it may run. Throws what the row's own functions throw.
std::optional<Result> refuse(const Strategy& strategy, const Gpu& gpu);
std::optional<Result> refuse(const Strategy& strategy, const Shape& shape, const Gpu& gpu);

/// The layouts in which the rows on a backend take their first input.
std::set<Layout> layouts(const Experiment& experiment, Backend backend);
/// Floats of the largest outputs that a row on a backend writes, from the first one's to the last
/// one's end; and of the largest workspace.
std::int64_t largest_output(const Experiment& experiment, const Shape& shape, Backend backend,
                            std::int64_t padding);
std::int64_t largest_workspace(const Experiment& experiment, const Shape& shape, Backend backend);

/// Why a shape can not be tried where so many bytes are free: too little memory, or sums that are
/// too long for a proof. Nothing if it can.
std::optional<Result> refuse_size(const Experiment& experiment, const Shape& shape, Backend backend,
                                  std::int64_t device_free, std::int64_t host_free);

}  // namespace recheck
