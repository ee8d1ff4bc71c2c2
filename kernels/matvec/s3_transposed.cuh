// SPDX-License-Identifier: Apache-2.0
#pragma once

// S3's loop over the transposed matrix in its own form. The document shows only the loop, without a
// pragma (A14). The index, the guard and the rest are mxvNaive's, as in the kernels after it.

#include "s3.cuh"

namespace recheck::kernels::matvec {

/// i · pitch is computed as a Step, to which an Id is added: int and unsigned as in S3's other
/// listings, or both 64 bits wide. A test passes a vector that watches its loads.
template <int unroll, typename Step, typename Id, bool is_restrict,
          typename Vector = In<is_restrict>>
__global__ void s3_transposed_kernel(int row_size, int column_size, int column_pitch,
                                     In<is_restrict> d_matrix, Vector d_vec, Out<is_restrict> d_r) {
  const Id id = static_cast<Id>(blockDim.x) * blockIdx.x + threadIdx.x;
  if (column_size <= id) return;
  float temp = 0.0f;
  walk<unroll>(0, row_size, [&](int i) {
    temp += d_matrix[static_cast<Step>(i) * column_pitch + id] * d_vec[i];
  });
  d_r[id] = temp;
}

}  // namespace recheck::kernels::matvec
