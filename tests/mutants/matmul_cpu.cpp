// SPDX-License-Identifier: Apache-2.0
//
// The CPU's triple loop, spoiled: twins of the mutants whose defect is in the result, for machines
// without a GPU. What they put to the test is the comparison.

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "../../experiments/matmul/matmul.hpp"
#include "../../reference/matmul.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

enum class Defect {
  none,
  no_bounds_guard,
  m_and_n_swapped,
  k_tail_skipped,
  last_row_unwritten,
  writes_nan,
  ignores_leading_dimension,
  adds_to_what_is_there,
  rounds_inputs_to_bf16,
  one_element_off,
  writes_before_the_output,
};

template <Defect defect>
void product(int m, int n, int k, const float* a, std::int64_t lda, const float* b,
             std::int64_t ldb, float* c, std::int64_t ldc) {
  if (defect == Defect::ignores_leading_dimension) ldb = n;
  const int k_end = defect == Defect::k_tail_skipped ? k / 16 * 16 : k;
  const int columns = defect == Defect::no_bounds_guard && m > 0 ? (n + 15) / 16 * 16 : n;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < columns; ++j) {
      float sum = 0;
      for (int e = 0; e < k_end && j < n; ++e) {
        const float x = a[i * lda + e], y = b[e * ldb + j];
        sum += defect == Defect::rounds_inputs_to_bf16 ? bf16(x) * bf16(y) : x * y;
      }
      if (defect == Defect::m_and_n_swapped && (i >= n || j >= m)) continue;
      if (defect == Defect::last_row_unwritten && i == m - 1) continue;
      if (defect == Defect::writes_nan && i == m - 1 && j == n - 1) sum = NAN;
      if (defect == Defect::one_element_off && i == m / 3 && j == n / 3) sum += 1;
      if (defect == Defect::writes_before_the_output) c[-1] = sum;
      float& out = c[i * ldc + j];
      out = defect == Defect::adds_to_what_is_there ? out + sum : sum;
    }
  }
}

/// Computes at its first call, and gives that result out at every later one of the same size.
void stale_result(int m, int n, int k, const float* a, std::int64_t lda, const float* b,
                  std::int64_t ldb, float* c, std::int64_t ldc) {
  static std::vector<float> kept;
  const auto size = static_cast<std::size_t>(m) * static_cast<std::size_t>(n);
  if (kept.size() != size) {
    kept.resize(size);
    reference::matmul_serial(m, n, k, a, lda, b, ldb, kept.data(), n);
  }
  for (int i = 0; i < m; ++i) std::copy_n(kept.data() + std::int64_t{i} * n, n, c + i * ldc);
}

enum class Relapse { spoils, idles, throws };

/// Right for its two proofs, and then no more.
template <Relapse relapse>
void right_until_timed(int m, int n, int k, const float* a, std::int64_t lda, const float* b,
                       std::int64_t ldb, float* c, std::int64_t ldc) {
  static int calls = 0;
  const bool proven = ++calls > 2;
  if (proven && relapse == Relapse::idles) return;
  if (proven && relapse == Relapse::throws) throw std::runtime_error("no more");
  reference::matmul_serial(m, n, k, a, lda, b, ldb, c, ldc);
  if (proven) c[(m - 1) * ldc + n - 1] = NAN;
}

using matmul::cpu;

constexpr Strategy rows[] = {
    mutant("unspoiled", cpu<product<Defect::none>>),
    mutant("no_bounds_guard", cpu<product<Defect::no_bounds_guard>>),
    mutant("m_and_n_swapped", cpu<product<Defect::m_and_n_swapped>>),
    mutant("k_tail_skipped", cpu<product<Defect::k_tail_skipped>>),
    mutant("last_row_unwritten", cpu<product<Defect::last_row_unwritten>>),
    mutant("writes_nan", cpu<product<Defect::writes_nan>>),
    mutant("stale_result", cpu<stale_result>),
    mutant("ignores_leading_dimension", cpu<product<Defect::ignores_leading_dimension>>),
    mutant("adds_to_what_is_there", cpu<product<Defect::adds_to_what_is_there>>),
    mutant("rounds_inputs_to_bf16", cpu<product<Defect::rounds_inputs_to_bf16>>),
    mutant("one_element_off", cpu<product<Defect::one_element_off>>),
    mutant("writes_before_the_output", cpu<product<Defect::writes_before_the_output>>),
};

}  // namespace

std::span<const Strategy> matmul_cpu() { return rows; }
const Strategy cpu_spoils_when_timed =
    mutant("spoils_when_timed", cpu<right_until_timed<Relapse::spoils>>);
const Strategy cpu_idles_when_timed =
    mutant("idles_when_timed", cpu<right_until_timed<Relapse::idles>>);
const Strategy cpu_throws_when_timed =
    mutant("throws_when_timed", cpu<right_until_timed<Relapse::throws>>);

}  // namespace recheck::mutants
