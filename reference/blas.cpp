// SPDX-License-Identifier: Apache-2.0
#ifdef RECHECK_HAVE_BLAS
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "matmul.hpp"
#include "matvec.hpp"

namespace recheck::reference {

// the Fortran interface: every BLAS has it, whatever its headers are called
extern "C" void sgemm_(  // NOLINT(readability-identifier-naming): its name
    const char* transa, const char* transb, const int* m, const int* n, const int* k,
    const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
    const float* beta, float* c, const int* ldc);
extern "C" void sgemv_(  // NOLINT(readability-identifier-naming): its name
    const char* trans, const int* m, const int* n, const float* alpha, const float* a,
    const int* lda, const float* x, const int* incx, const float* beta, float* y, const int* incy);

namespace {

/// A leading dimension as BLAS takes it, which requires at least 1 even without columns.
int blas_ld(std::int64_t ld) {
  if (ld > std::numeric_limits<int>::max())
    throw std::length_error("BLAS counts in 32 bits, and the leading dimension is " +
                            std::to_string(ld));
  return static_cast<int>(std::max<std::int64_t>(1, ld));
}

}  // namespace

void matmul_blas(int m, int n, int k, const float* a, std::int64_t lda, const float* b,
                 std::int64_t ldb, float* c, std::int64_t ldc) {
  const float one = 1, zero = 0;
  const int la = blas_ld(lda), lb = blas_ld(ldb), lc = blas_ld(ldc);
  // column-major: the transposed product, with the operands swapped
  sgemm_("N", "N", &n, &m, &k, &one, b, &lb, a, &la, &zero, c, &lc);
}

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
