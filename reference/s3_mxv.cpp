// SPDX-License-Identifier: Apache-2.0
//
// S3 mxv (A10) in its own form. Compiled twice, with two sets of flags: reference/CMakeLists.txt.
#include "listings.hpp"

namespace recheck::reference {

void RECHECK_S3_MXV(int row_size, int column_size, const float* matrix, const float* v, float* r) {
  for (int i = 0; i < row_size; i++) {
    float re = 0.0f;
    for (int j = 0; j < column_size; j++) re += matrix[i * column_size + j] * v[j];
    r[i] = re;
  }
}

}  // namespace recheck::reference
