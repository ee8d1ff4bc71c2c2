// SPDX-License-Identifier: Apache-2.0
//
// The CPU's transposition with defects, and right copies where a transposition is expected.

#include <cmath>

#include "../../experiments/transpose/transpose.hpp"
#include "../../reference/transpose.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

constexpr std::string_view defects =
    "unspoiled no_bounds_guard rows_and_columns_swapped ragged_tiles_as_they_are "
    "last_row_unwritten last_column_unwritten writes_nan ignores_ldin ignores_ldout "
    "rounds_to_bf16 one_element_off written_twice_shifted writes_before_the_output "
    "changes_its_input copy_as_transposition";
consteval int is(std::string_view defect) { return index_of(defects, defect); }

template <int defect>
void transposition(int rows, int columns, const float* in, std::int64_t ldin, float* out,
                   std::int64_t ldout) {
  if (defect == is("ignores_ldin")) ldin = columns;
  if (defect == is("ignores_ldout")) ldout = rows;
  const auto element = [&](std::int64_t row, std::int64_t column) {
    return row < rows && column < columns ? in[row * ldin + column] : 0.0f;
  };
  const std::int64_t j_end = defect == is("no_bounds_guard") ? (rows + 31) / 32 * 32 : rows;
  for (std::int64_t i = 0; i < columns; ++i) {
    for (std::int64_t j = 0; j < j_end; ++j) {
      float value = element(j, i);
      const std::int64_t row = j / 32 * 32, column = i / 32 * 32;  // the start of its tile
      const bool ragged = row + 32 > rows || column + 32 > columns;
      if (defect == is("ragged_tiles_as_they_are") && ragged)
        value = element(row + i % 32, column + j % 32);
      if (defect == is("copy_as_transposition")) value = element(i, j);
      if (defect == is("rows_and_columns_swapped") && (i >= rows || j >= columns)) continue;
      if (defect == is("last_row_unwritten") && i == columns - 1) continue;
      if (defect == is("last_column_unwritten") && j == rows - 1) continue;
      if (defect == is("writes_nan") && i == columns - 1 && j == rows - 1) value = NAN;
      if (defect == is("rounds_to_bf16")) value = bf16(value);
      if (defect == is("one_element_off") && i == columns / 3 && j == rows / 3) value += 1;
      if (defect == is("writes_before_the_output")) out[-1] = value;
      out[i * ldout + j] = value;
      if (defect == is("written_twice_shifted")) out[i * ldout + j + 1] = value;
    }
  }
  if (defect == is("changes_its_input") && columns > 0 && rows > 0)
    const_cast<float&>(in[(rows - 1) * ldin + columns - 1]) += 1;
}

using transpose::cpu;

constexpr Layout by_rows = Layout::row_major;
constexpr Launcher right = cpu<reference::transpose_serial>;

constexpr int copy = is("copy_as_transposition");
constexpr Strategy others[] = {
    square_only(mutant(word(defects, copy), cpu<transposition<copy>>)),
    promising(mutant("unspoiled_promise", right)),
    promising(mutant("promises_too_much", cpu<transposition<is("rounds_to_bf16")>>)),
    square_only(mutant("transposition_as_copy", right, by_rows, &transpose::copied)),
    mutant("transposition_as_coarse_grained", right, by_rows, &transpose::tiles_moved),
    square_only(mutant("transposition_as_fine_grained", right, by_rows, &transpose::tiles_turned)),
};
constexpr auto rows =
    table_of(rows_of<0, copy>(
                 defects, [](auto i, auto name) { return mutant(name, cpu<transposition<i>>); }),
             std::to_array(others));

}  // namespace

std::span<const Strategy> transpose_cpu() { return rows; }

}  // namespace recheck::mutants
