// SPDX-License-Identifier: Apache-2.0
//
// The CPU's transposition, spoiled; and right in the places of what is none.

#include <cmath>

#include "../../experiments/transpose/transpose.hpp"
#include "../../reference/transpose.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

enum class Defect {
  none,
  no_bounds_guard,
  rows_and_columns_swapped,
  ragged_tiles_as_they_are,
  copies,
  last_row_unwritten,
  last_column_unwritten,
  writes_nan,
  ignores_ldin,
  ignores_ldout,
  rounds_to_bf16,
  one_element_off,
  written_twice_shifted,
  writes_before_the_output,
  changes_its_input,
};

template <Defect defect>
void transposition(int rows, int columns, const float* in, std::int64_t ldin, float* out,
                   std::int64_t ldout) {
  if (defect == Defect::ignores_ldin) ldin = columns;
  if (defect == Defect::ignores_ldout) ldout = rows;
  const auto element = [&](std::int64_t row, std::int64_t column) {
    return row < rows && column < columns ? in[row * ldin + column] : 0.0f;
  };
  const std::int64_t j_end = defect == Defect::no_bounds_guard ? (rows + 31) / 32 * 32 : rows;
  for (std::int64_t i = 0; i < columns; ++i) {
    for (std::int64_t j = 0; j < j_end; ++j) {
      float value = element(j, i);
      const std::int64_t row = j / 32 * 32, column = i / 32 * 32;  // where its tile begins
      const bool ragged = row + 32 > rows || column + 32 > columns;
      if (defect == Defect::ragged_tiles_as_they_are && ragged)
        value = element(row + i % 32, column + j % 32);
      if (defect == Defect::copies) value = element(i, j);
      if (defect == Defect::rows_and_columns_swapped && (i >= rows || j >= columns)) continue;
      if (defect == Defect::last_row_unwritten && i == columns - 1) continue;
      if (defect == Defect::last_column_unwritten && j == rows - 1) continue;
      if (defect == Defect::writes_nan && i == columns - 1 && j == rows - 1) value = NAN;
      if (defect == Defect::rounds_to_bf16) value = bf16(value);
      if (defect == Defect::one_element_off && i == columns / 3 && j == rows / 3) value += 1;
      if (defect == Defect::writes_before_the_output) out[-1] = value;
      out[i * ldout + j] = value;
      if (defect == Defect::written_twice_shifted) out[i * ldout + j + 1] = value;
    }
  }
  if (defect == Defect::changes_its_input && columns > 0 && rows > 0)
    const_cast<float&>(in[(rows - 1) * ldin + columns - 1]) += 1;
}

using transpose::cpu;

constexpr Layout by_rows = Layout::row_major;
constexpr Launcher right = cpu<reference::transpose_serial>;

constexpr Strategy rows[] = {
    mutant("unspoiled", cpu<transposition<Defect::none>>),
    mutant("no_bounds_guard", cpu<transposition<Defect::no_bounds_guard>>),
    mutant("rows_and_columns_swapped", cpu<transposition<Defect::rows_and_columns_swapped>>),
    mutant("ragged_tiles_as_they_are", cpu<transposition<Defect::ragged_tiles_as_they_are>>),
    square_only(mutant("copy_as_transposition", cpu<transposition<Defect::copies>>)),
    mutant("last_row_unwritten", cpu<transposition<Defect::last_row_unwritten>>),
    mutant("last_column_unwritten", cpu<transposition<Defect::last_column_unwritten>>),
    mutant("writes_nan", cpu<transposition<Defect::writes_nan>>),
    mutant("ignores_ldin", cpu<transposition<Defect::ignores_ldin>>),
    mutant("ignores_ldout", cpu<transposition<Defect::ignores_ldout>>),
    mutant("rounds_to_bf16", cpu<transposition<Defect::rounds_to_bf16>>),
    promising(mutant("unspoiled_promise", right)),
    promising(mutant("promises_too_much", cpu<transposition<Defect::rounds_to_bf16>>)),
    mutant("one_element_off", cpu<transposition<Defect::one_element_off>>),
    mutant("written_twice_shifted", cpu<transposition<Defect::written_twice_shifted>>),
    mutant("writes_before_the_output", cpu<transposition<Defect::writes_before_the_output>>),
    mutant("changes_its_input", cpu<transposition<Defect::changes_its_input>>),

    square_only(mutant("transposition_as_copy", right, by_rows, &transpose::copied)),
    mutant("transposition_as_coarse_grained", right, by_rows, &transpose::tiles_moved),
    square_only(mutant("transposition_as_fine_grained", right, by_rows, &transpose::tiles_turned)),
};

}  // namespace

std::span<const Strategy> transpose_cpu() { return rows; }

}  // namespace recheck::mutants
