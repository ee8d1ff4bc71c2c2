// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "../../experiments/harness/strategy.hpp"

namespace recheck::mutants {

/// Matrix products that are wrong on purpose, each in one way that has been seen in the wild. They
/// exist to prove that the gate bites: one that passes is a failing test.
std::span<const Strategy> matmul_gpu();  // only in a build with CUDA
std::span<const Strategy> matmul_cpu();  // twins that need no GPU: what the comparison must catch

/// Asks the device for more memory than there is.
extern const Strategy gpu_allocates_too_much;
/// Right while they are proven. Once they are timed, one spoils an element, one writes nothing more
/// (and where memory comes back, the last right answer stands in it), one throws.
extern const Strategy cpu_spoils_when_timed;
extern const Strategy cpu_idles_when_timed;
extern const Strategy cpu_throws_when_timed;

}  // namespace recheck::mutants
