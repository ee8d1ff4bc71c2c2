// SPDX-License-Identifier: Apache-2.0
//
// The vendor's transposition: geam, out = 1 · inᵀ + 0 · (nothing). Row-major matrices are the
// transposes of what column-major cuBLAS sees, which is the same question once more.

#include <cublas_v2.h>

#include <stdexcept>
#include <string>

#include "transpose.hpp"

namespace recheck::kernels::transpose {

void cublas(const TransposeArgs& args, const Queue& queue) {
  if (args.rows == 0 || args.columns == 0) return;
  const float one = 1, zero = 0;
  const auto status =
      cublasSgeam(queue.blas, CUBLAS_OP_T, CUBLAS_OP_N, args.rows, args.columns, &one, args.in,
                  static_cast<int>(args.ldin), &zero, args.out, static_cast<int>(args.ldout),
                  args.out, static_cast<int>(args.ldout));
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cublasSgeam: ") + cublasGetStatusString(status));
}

}  // namespace recheck::kernels::transpose
