// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "matmul.hpp"

namespace recheck::kernels::matmul {

/// Copies B to where all rows start on 16 bytes, for the copy engine: aligned_b_floats at `to`,
/// which become p's B. aligned_b.cu
void align_b(MatmulArgs& p, float* to, cudaStream_t stream);

}  // namespace recheck::kernels::matmul
