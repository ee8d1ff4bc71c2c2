// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../kernels/memory/memory.hpp"
#include "../harness/table/experiment.hpp"

namespace recheck::memory {

/// The operands of every row: the words, shape {words}, and the row's result.
kernels::memory::ProbeArgs arguments(const Call& call);

/// A kernel's launcher as a row's entry point.
template <auto f>
constexpr Launcher gpu = gpu_launcher<f, arguments>();

/// The rows' problems: two chases over the words, passes that read all of them, and passes that
/// write, which use only their number.
extern const Problem near_chase, far_chase, passing, overwriting;

/// The same problems with another table, so that tests can put mutants through the same gate.
Experiment experiment(std::span<const Strategy> ladder);

/// The levels of memory, from the nearest to the farthest: first the latency of a load, then
/// throughput.
std::span<const Strategy> ladder();

}  // namespace recheck::memory
