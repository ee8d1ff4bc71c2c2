// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "matrix.hpp"

namespace recheck::reference {

// r = A · v in fp32 on the CPU: a is rows×columns, row-major, lda elements from row to row.

/// One fp32 sum per row. Source: S3 mxv (A10), with strides of 64 bits.
void matvec_serial(int rows, int columns, const float* a, std::int64_t lda, const float* v,
                   float* r);

#ifdef RECHECK_HAVE_BLAS
/// r = A · v by the installed BLAS's sgemv, with as many threads as it likes. Throws
/// std::length_error if lda exceeds an int.
void matvec_blas(int rows, int columns, const float* a, std::int64_t lda, const float* v, float* r);
#endif

/// The true values of a matrix–vector product, every element, computed once in float64.
class MatvecOracle {
 public:
  MatvecOracle(MatrixView a, std::span<const float> v);

  /// max |r - Av| / (|A||v|); NaN if r holds one. 0 means exact.
  [[nodiscard]] double relative_error(const float* r) const;

 private:
  std::vector<double> product_, scale_;  // (rows): Av and |A||v|
};

}  // namespace recheck::reference
