// SPDX-License-Identifier: Apache-2.0
//
// The CPU's double loop and a read-only pass with defects: twins of the mutants with a wrong
// result.

#include <algorithm>
#include <bit>
#include <cmath>

#include "../../experiments/harness/table/check.hpp"
#include "../../experiments/matvec/matvec.hpp"
#include "../../reference/matvec.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

constexpr std::string_view defects =
    "unspoiled no_bounds_guard rows_and_columns_swapped tail_skipped last_row_unwritten "
    "writes_nan pitch_ignored pitch_counts_floats adds_to_what_is_there "
    "rounds_inputs_to_bf16 one_element_off writes_before_the_output "
    "batch_from_the_beginning "
    "unspoiled_read read_tail_skipped read_word_twice read_vector_left_out read_nothing "
    "read_partial_unwritten";
consteval int is(std::string_view defect) { return index_of(defects, defect); }

/// A by columns, ld elements apart.
template <int defect>
void product(int rows, int columns, const float* a, std::int64_t ld, const float* v, float* r) {
  if (defect == is("pitch_ignored")) ld = rows;
  const int columns_end = defect == is("tail_skipped") ? columns / 4 * 4 : columns;
  const int rows_end = defect == is("no_bounds_guard") ? (rows + 31) / 32 * 32 : rows;
  for (int i = 0; i < rows_end; ++i) {
    float sum = 0;
    for (int j = 0; j < columns_end && i < rows; ++j) {
      const int column = defect == is("pitch_counts_floats") ? 4 * j % columns : j;
      const int batch = kernels::matvec::constant_batch;
      float x = a[column * ld + i];
      if (defect == is("rows_and_columns_swapped"))
        x = i < columns && j < rows ? a[i * ld + j] : 0.0f;
      const float y = v[defect == is("batch_from_the_beginning") ? j % batch : j];
      sum += defect == is("rounds_inputs_to_bf16") ? bf16(x) * bf16(y) : x * y;
    }
    if (defect == is("last_row_unwritten") && i == rows - 1) continue;
    if (defect == is("writes_nan") && i == rows - 1) sum = NAN;
    if (defect == is("one_element_off") && i == rows / 3) sum += 1;
    if (defect == is("writes_before_the_output")) r[-1] = sum;
    r[i] = defect == is("adds_to_what_is_there") ? r[i] + sum : sum;
  }
}

/// Folds everything into the first word. A by rows.
template <int defect>
void read(int rows, int columns, const float* a, std::int64_t ld, const float* v, float* r) {
  const int end = defect == is("read_tail_skipped") ? columns / 4 * 4 : columns;
  std::uint32_t folded = fold_words({rows, end, a, ld});
  if (defect != is("read_vector_left_out")) folded ^= fold_words({1, end, v, end});
  if (defect == is("read_word_twice") && columns > 0) folded ^= std::bit_cast<std::uint32_t>(*v);
  if (defect == is("read_nothing")) folded = 0;
  const int partials = kernels::fold_partials;
  std::fill_n(r, defect == is("read_partial_unwritten") ? partials - 1 : partials, 0.0f);
  r[0] = std::bit_cast<float>(folded);
}

using matvec::cpu;

constexpr int first_read = is("unspoiled_read");
constexpr auto rows = table_of(
    rows_of<0, first_read>(
        defects,
        [](auto i, auto name) { return mutant(name, cpu<product<i>>, Layout::column_major); }),
    rows_of<first_read, words(defects)>(defects, [](auto i, auto name) {
      return mutant(name, cpu<read<i>>, Layout::row_major, &matvec::checksum);
    }));

}  // namespace

std::span<const Strategy> matvec_cpu() { return rows; }

}  // namespace recheck::mutants
