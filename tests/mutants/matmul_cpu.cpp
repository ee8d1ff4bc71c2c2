// SPDX-License-Identifier: Apache-2.0
//
// The CPU's triple loop with defects: twins of the mutants with a wrong result, for machines
// without a GPU. They test the comparison.

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "../../experiments/matmul/matmul.hpp"
#include "../../reference/matmul.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

using kernels::matmul::MatmulArgs;

constexpr std::string_view defects =
    "unspoiled no_bounds_guard m_and_n_swapped k_tail_skipped last_row_unwritten "
    "writes_nan ignores_leading_dimension adds_to_what_is_there rounds_inputs_to_bf16 "
    "one_element_off writes_before_the_output "
    "unspoiled_split high_products_only a_plane_missing last_part_of_k_lost "
    "part_of_k_twice";
consteval int is(std::string_view defect) { return index_of(defects, defect); }

void compute(const MatmulArgs& p) {
  reference::matmul_serial(p.m, p.n, p.k, p.a, p.lda, p.b, p.ldb, p.c, p.ldc);
}

template <int defect>
void product(const MatmulArgs& p) {
  const std::int64_t ldb = defect == is("ignores_leading_dimension") ? p.n : p.ldb;
  const int k_end = defect == is("k_tail_skipped") ? p.k / 16 * 16 : p.k;
  const int columns = defect == is("no_bounds_guard") && p.m > 0 ? (p.n + 15) / 16 * 16 : p.n;
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < columns; ++j) {
      float sum = 0;
      for (int e = 0; e < k_end && j < p.n; ++e) {
        const float x = p.a[i * p.lda + e], y = p.b[e * ldb + j];
        sum += defect == is("rounds_inputs_to_bf16") ? bf16(x) * bf16(y) : x * y;
      }
      if (defect == is("m_and_n_swapped") && (i >= p.n || j >= p.m)) continue;
      if (defect == is("last_row_unwritten") && i == p.m - 1) continue;
      if (defect == is("writes_nan") && i == p.m - 1 && j == p.n - 1) sum = NAN;
      if (defect == is("one_element_off") && i == p.m / 3 && j == p.n / 3) sum += 1;
      if (defect == is("writes_before_the_output")) p.c[-1] = sum;
      float& out = p.c[i * p.ldc + j];
      out = defect == is("adds_to_what_is_there") ? out + sum : sum;
    }
  }
}

/// Computes at its first call, and returns that result at every later call of the same size.
void stale_result(const MatmulArgs& p) {
  static std::vector<float> kept;
  const auto size = static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n);
  if (kept.size() != size) {
    kept.resize(size);
    reference::matmul_serial(p.m, p.n, p.k, p.a, p.lda, p.b, p.ldb, kept.data(), p.n);
  }
  for (int i = 0; i < p.m; ++i)
    std::copy_n(kept.data() + std::int64_t{i} * p.n, p.n, p.c + i * p.ldc);
}

/// The sum of the six largest products of three bf16 planes each, or of fewer.
template <int defect>
float split_product(float x, float y) {
  const float x0 = bf16(x), x1 = bf16(x - x0), x2 = bf16(x - x0 - x1);
  const float y0 = bf16(y), y1 = bf16(y - y0), y2 = bf16(y - y0 - y1);
  if (defect == is("high_products_only")) return x0 * y0;
  const float small = x1 * y1 + x0 * y2 + (defect == is("a_plane_missing") ? 0 : x2 * y0);
  return small + (x0 * y1 + x1 * y0) + x0 * y0;
}

/// A product whose k is cut into four parts, summed separately.
template <int defect>
void in_parts(const MatmulArgs& p) {
  constexpr int parts = 4;
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < p.n; ++j) {
      float sums[parts] = {};
      for (int e = 0; e < p.k; ++e)
        sums[std::int64_t{e} * parts / p.k] +=
            split_product<defect>(p.a[i * p.lda + e], p.b[e * p.ldb + j]);
      if (defect == is("last_part_of_k_lost")) sums[parts - 1] = 0;
      if (defect == is("part_of_k_twice")) sums[parts - 1] += sums[0];
      p.c[i * p.ldc + j] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  }
}

enum class Relapse { spoils, idles, throws, changes_its_input };

/// Right in its two proofs and wrong afterwards.
template <Relapse relapse>
void right_until_timed(const MatmulArgs& p) {
  static int calls = 0;
  const bool proven = ++calls > 2;
  if (proven && relapse == Relapse::idles) return;
  if (proven && relapse == Relapse::throws) throw std::runtime_error("no more");
  compute(p);
  // not on fresh inputs, which are integers: the final output must be judged too
  if (proven && relapse == Relapse::spoils && p.a[0] != std::round(p.a[0]))
    p.c[(p.m - 1) * p.ldc + p.n - 1] = NAN;
  if (proven && relapse == Relapse::changes_its_input) const_cast<float&>(p.b[p.k - 1]) = p.a[0];
}

/// The part that reference::MatmulOracle would check if its seed depended only on the shape:
/// sixteen rows, and C·x. In all other rows, two elements are wrong but keep the sum of the row
/// along x.
void right_where_it_is_looked_at(const MatmulArgs& p) {
  std::mt19937_64 random(static_cast<std::uint64_t>((std::int64_t{p.m} * 31 + p.n) * 31 + p.k));
  std::set<std::int64_t> known = {0, p.m - 1};
  for (std::int64_t band = 0; band < 14; ++band)
    known.insert((band * p.m + static_cast<std::int64_t>(random() % p.m)) / 14);
  std::vector<double> x(p.n);
  std::vector<int> ones;  // columns in which x is 1 or -1
  for (int j = 0; j < p.n; ++j) {
    const auto h = random();
    x[j] = static_cast<double>(1 + h % 512) * ((h >> 63) != 0 ? -1 : 1);
    if (std::abs(x[j]) == 1) ones.push_back(j);
  }
  std::vector<double> bx(p.k);
  for (int e = 0; e < p.k; ++e)
    for (int j = 0; j < p.n; ++j) bx[e] += p.b[e * p.ldb + j] * x[j];
  for (int i = 0; i < p.m; ++i) {
    float* row = p.c + i * p.ldc;
    if (known.contains(i)) {
      reference::matmul_serial(1, p.n, p.k, p.a + i * p.lda, p.lda, p.b, p.ldb, row, p.ldc);
      continue;
    }
    double along_x = 0;
    for (int e = 0; e < p.k; ++e) along_x += p.a[i * p.lda + e] * bx[e];
    std::fill_n(row, p.n, 0.0F);
    for (const int j : {ones[0], ones[1]}) {
      row[j] = static_cast<float>(along_x * x[j]);
      along_x -= row[j] * x[j];
    }
  }
}

/// Right on integers. If spoiled, it omits a row of reals, whose effect on a sum over this many
/// columns is hardly larger than the rounding of such a sum.
template <bool spoiled>
void row_after_row(const MatmulArgs& p) {
  for (int i = 0; i < p.m; ++i) {
    float* row = p.c + i * p.ldc;
    std::fill_n(row, p.n, 0.0F);
    if (spoiled && i == p.m / 2 + 1 && p.a[0] != std::round(p.a[0])) continue;
    for (int e = 0; e < p.k; ++e)
      for (int j = 0; j < p.n; ++j) row[j] += p.a[i * p.lda + e] * p.b[e * p.ldb + j];
  }
}

float tf32(float x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000U); }

void cuts_where_sums_are_long(const MatmulArgs& p) {
  if (p.k < 2048) return compute(p);
  for (int i = 0; i < p.m; ++i) {
    for (int j = 0; j < p.n; ++j) {
      float sum = 0;
      for (int e = 0; e < p.k; ++e) sum += tf32(p.a[i * p.lda + e]) * tf32(p.b[e * p.ldb + j]);
      p.c[i * p.ldc + j] = sum;
    }
  }
}

template <auto f>
constexpr Launcher cpu = on_cpu<f, matmul::arguments>;

constexpr int first_split = is("unspoiled_split");
constexpr auto rows =
    table_of(rows_of<0, first_split>(
                 defects, [](auto i, auto name) { return mutant(name, cpu<product<i>>); }),
             rows_of<first_split, words(defects)>(
                 defects, [](auto i, auto name) { return split(mutant(name, cpu<in_parts<i>>)); }),
             std::array{mutant("stale_result", cpu<stale_result>)});

constexpr Strategy others[] = {
    mutant("right_where_it_is_looked_at", cpu<right_where_it_is_looked_at>),
    mutant("drops_a_row_of_reals", cpu<row_after_row<true>>),
    mutant("drops_no_row_of_reals", cpu<row_after_row<false>>),
    mutant("cuts_where_sums_are_long", cpu<cuts_where_sums_are_long>),
    mutant("spoils_when_timed", cpu<right_until_timed<Relapse::spoils>>),
    mutant("idles_when_timed", cpu<right_until_timed<Relapse::idles>>),
    mutant("throws_when_timed", cpu<right_until_timed<Relapse::throws>>),
    mutant("changes_its_input_when_timed", cpu<right_until_timed<Relapse::changes_its_input>>),
};

}  // namespace

std::span<const Strategy> matmul_cpu() { return rows; }
Strategy other_cpu(std::string_view name) {
  return *std::ranges::find(others, name, &Strategy::name);
}

}  // namespace recheck::mutants
