// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace recheck::kernels {

/// Words that a read-only pass writes: at most one for each of its blocks, and 0 for the rest.
/// Their exclusive or is the fold of all words that were read. fold.cuh
inline constexpr int fold_partials = 16384;

}  // namespace recheck::kernels
