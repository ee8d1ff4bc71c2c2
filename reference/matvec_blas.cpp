// SPDX-License-Identifier: Apache-2.0
#ifdef RECHECK_HAVE_BLAS
#include <algorithm>

#include "blas.hpp"
#include "matvec.hpp"

namespace recheck::reference {

extern "C" void sgemv_(  // NOLINT(readability-identifier-naming): its name
    const char* trans, const int* m, const int* n, const float* alpha, const float* a,
    const int* lda, const float* x, const int* incx, const float* beta, float* y, const int* incy);

void matvec_blas(int rows, int columns, const float* a, std::int64_t lda, const float* v,
                 float* r) {
  if (columns == 0) {
    // BLAS returns at once when either extent is 0 and leaves r unchanged
    std::fill_n(r, rows, 0.0f);
    return;
  }
  const float one = 1, zero = 0;
  const int ld = blas_ld(lda), step = 1;
  // column-major: a matrix stored by rows is its own transpose
  sgemv_("T", &columns, &rows, &one, a, &ld, v, &step, &zero, r, &step);
}

}  // namespace recheck::reference
#endif
