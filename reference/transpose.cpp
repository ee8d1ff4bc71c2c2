// SPDX-License-Identifier: Apache-2.0
#include "transpose.hpp"

namespace recheck::reference {

void transpose_serial(int rows, int columns, const float* in, std::int64_t ldin, float* out,
                      std::int64_t ldout) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) out[j * ldout + i] = in[i * ldin + j];
}

}  // namespace recheck::reference
