// SPDX-License-Identifier: Apache-2.0
//
// S3 mxvSSE and mxvSSEOpenmp (A11, A12) in their own form: four products at a time, by aligned
// loads, without code for remaining columns. As printed, mxvSSEOpenmp does not compile: it declares
// its vector as vec, but its body uses v.
#ifdef RECHECK_HAVE_SSE
#include <xmmintrin.h>

#include "listings.hpp"

namespace recheck::reference {
namespace {

void row(int i, int column_size, const float* matrix, const float* v, float* r) {
  const auto* mv = reinterpret_cast<const __m128*>(v);
  const auto* mm = reinterpret_cast<const __m128*>(matrix);
  __m128 re = _mm_set_ps(0.0f, 0.0f, 0.0f, 0.0f);
  for (int j = 0; j < column_size / 4; j++)
    re = _mm_add_ps(re, _mm_mul_ps(mm[i * column_size / 4 + j], mv[j]));
  alignas(16) float a[4];
  _mm_store_ps(a, re);
  r[i] = a[0] + a[1] + a[2] + a[3];
}

}  // namespace

void s3_sse(int row_size, int column_size, const float* matrix, const float* v, float* r) {
  for (int i = 0; i < row_size; i++) row(i, column_size, matrix, v, r);
}

#ifdef RECHECK_HAVE_OPENMP
void s3_sse_openmp2(int row_size, int column_size, const float* matrix, const float* v, float* r) {
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < row_size; i++) row(i, column_size, matrix, v, r);
}

void s3_sse_openmp(int row_size, int column_size, const float* matrix, const float* v, float* r) {
#pragma omp parallel for
  for (int i = 0; i < row_size; i++) row(i, column_size, matrix, v, r);
}
#endif

}  // namespace recheck::reference
#endif
