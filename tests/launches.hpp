// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace recheck {

/// Makes word i of `count` what numbered() says, on the device.
void number(float* words, std::int64_t count, cudaStream_t stream);

/// Adds to *wrong, on the device, how many of `count` words are not numbered(i) times `factor`.
void count_wrong(const float* words, std::int64_t count, float factor, unsigned long long* wrong,
                 cudaStream_t stream);

}  // namespace recheck
