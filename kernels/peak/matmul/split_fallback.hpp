// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "matmul.hpp"

namespace recheck::kernels::matmul {

/// C = A·B in IEEE fp32, always if `raised` is null; otherwise only if *raised, a word in device
/// memory, is not 0 once the previously queued work is done. split_fallback.cu
void ieee_if(const unsigned* raised, const MatmulArgs& args, cudaStream_t stream);

}  // namespace recheck::kernels::matmul
