// SPDX-License-Identifier: Apache-2.0
//
// S1 MatrixMulCPU (A01) in its own form: one width for each matrix, int indices. S1 names neither
// compiler nor flags, so it is compiled with two sets of flags: reference/CMakeLists.txt.
#include "listings.hpp"

namespace recheck::reference {

void RECHECK_S1_CPU(float* c, const float* a, const float* b, int wa, int ha, int wb) {
  float sum = 0;
  for (int i = 0; i < ha; ++i) {
    for (int j = 0; j < wb; ++j) {
      sum = 0;
      for (int k = 0; k < wa; ++k) sum += a[i * wa + k] * b[k * wb + j];
      c[i * wb + j] = sum;
    }
  }
}

}  // namespace recheck::reference
