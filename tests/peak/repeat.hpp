// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace recheck {

/// Sets `differ` to 1, on the device, if two arrays do not have the same bits.
void note_difference(const float* a, const float* b, std::int64_t count, unsigned* differ,
                     cudaStream_t stream);

}  // namespace recheck
