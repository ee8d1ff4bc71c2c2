// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../../kernels/memory/memory.hpp"
#include "../harness/table/experiment.hpp"

namespace recheck::memory {

/// The operands of every row: the words, shape {words}, and what the row leaves of them.
kernels::memory::ProbeArgs arguments(const Call& call);

/// A kernel's launcher as a row's entry point.
template <auto f>
constexpr Launcher gpu = gpu_launcher<f, arguments>();

/// What rows compute, each from the same words: two chases, and passes over all of them; and, of
/// their number alone, passes that write.
extern const Problem near_chase, far_chase, passing, overwriting;

/// The same problems with another table: how tests put mutants through the very same gate.
Experiment experiment(std::span<const Strategy> ladder);

/// The levels of memory, from the nearest to the farthest: how long a load takes, then how much
/// comes at once.
std::span<const Strategy> ladder();

}  // namespace recheck::memory
