// SPDX-License-Identifier: Apache-2.0
#ifdef RECHECK_HAVE_SSE
#include <xmmintrin.h>

#include "matvec.hpp"

namespace recheck::reference {
namespace {

float dot(int columns, const float* row, const float* v) {
  __m128 sums = _mm_setzero_ps();
  int j = 0;
  // unaligned loads: a row of a matrix without padding starts anywhere
  for (; j + 4 <= columns; j += 4)
    sums = _mm_add_ps(sums, _mm_mul_ps(_mm_loadu_ps(row + j), _mm_loadu_ps(v + j)));
  alignas(16) float four[4];
  _mm_store_ps(four, sums);
  float sum = four[0] + four[1] + four[2] + four[3];
  for (; j < columns; ++j) sum += row[j] * v[j];
  return sum;
}

}  // namespace

void matvec_sse(int rows, int columns, const float* a, std::int64_t lda, const float* v, float* r) {
  for (int i = 0; i < rows; ++i) r[i] = dot(columns, a + i * lda, v);
}

#ifdef RECHECK_HAVE_OPENMP
void matvec_sse_openmp2(int rows, int columns, const float* a, std::int64_t lda, const float* v,
                        float* r) {
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < rows; ++i) r[i] = dot(columns, a + i * lda, v);
}

void matvec_sse_openmp(int rows, int columns, const float* a, std::int64_t lda, const float* v,
                       float* r) {
#pragma omp parallel for
  for (int i = 0; i < rows; ++i) r[i] = dot(columns, a + i * lda, v);
}
#endif

}  // namespace recheck::reference
#endif
