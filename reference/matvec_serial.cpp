// SPDX-License-Identifier: Apache-2.0
#include "matvec.hpp"

namespace recheck::reference {

void matvec_serial(int rows, int columns, const float* a, std::int64_t lda, const float* v,
                   float* r) {
  for (int i = 0; i < rows; ++i) {
    float sum = 0;
    for (int j = 0; j < columns; ++j) sum += a[i * lda + j] * v[j];
    r[i] = sum;
  }
}

}  // namespace recheck::reference
