// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "matrix.hpp"

namespace recheck::reference {

/// C = A · B, the documents' CPU program: three loops and one fp32 sum. a is (m, k), b is (k, n), c
/// is (m, n), row-major. Source: S1 MatrixMulCPU (A01), with strides of 64 bits.
void matmul_serial(int m, int n, int k, const float* a, std::int64_t lda, const float* b,
                   std::int64_t ldb, float* c, std::int64_t ldc);

#ifdef RECHECK_HAVE_BLAS
/// C = A · B by the installed BLAS's sgemm, with as many threads as it likes. Throws
/// std::length_error if a leading dimension exceeds an int.
void matmul_blas(int m, int n, int k, const float* a, std::int64_t lda, const float* b,
                 std::int64_t ldb, float* c, std::int64_t ldc);
#endif

/// A · B and |A||B| in float64, for these rows of A: both become (rows, n).
void multiply_rows(MatrixView a, MatrixView b, const std::vector<std::int64_t>& rows,
                   std::vector<double>& product, std::vector<double>& scale);

/// The true values of a product, computed once in float64 and compared with many outputs.
///
/// Up to `complete_limit` multiply-adds every element is known. Beyond that, three things are
/// known: up to 16 rows element by element, one random element of each row and of each column, and
/// Freivalds' identity C·x = A·(B·x) for all of C and a random integer vector x without zeros,
/// which costs O(n²). With integer inputs both sides are exact, so any single wrong element shows.
/// With reals the identity is as sharp as the rigorous bound allows. For large products that bound
/// exceeds the error of a row of zeros, but the random elements detect one.
class MatmulOracle {
 public:
  static constexpr double complete_limit = 1.5e9;
  /// Largest number of known elements, at two doubles each, unless one row is longer.
  static constexpr std::int64_t most_elements = 1 << 24;

  MatmulOracle(MatrixView a, MatrixView b, std::uint64_t seed);

  /// max over the known elements of |c - AB| / (|A||B|), and over all rows of
  /// |Cx - ABx| / (|A||B||x|). NaN if c holds one. 0 means exact.
  [[nodiscard]] double relative_error(MatrixView c) const;

 private:
  std::int64_t m_, n_;
  std::vector<std::int64_t> rows_;       // which rows are known
  std::vector<double> product_, scale_;  // (rows, n): AB and |A||B| of those
  struct Element {
    std::int64_t row, column;
    double product, scale;
  };
  std::vector<Element> scattered_;       // elsewhere, empty when every row is known
  std::vector<double> x_;                // (n), empty when every row is known
  std::vector<double> abx_, abx_scale_;  // (m): ABx and |A||B||x|
  void scatter(MatrixView a, MatrixView b, std::mt19937_64& random);
};

}  // namespace recheck::reference
