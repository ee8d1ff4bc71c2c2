// SPDX-License-Identifier: Apache-2.0
//
// The CPU's double loop and a read-only pass, spoiled: twins of the mutants whose defect is in the
// result.

#include <algorithm>
#include <bit>
#include <cmath>

#include "../../experiments/matvec/matvec.hpp"
#include "../../reference/matvec.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

enum class Defect {
  none,
  // the product
  no_bounds_guard,
  rows_and_columns_swapped,
  tail_skipped,
  last_row_unwritten,
  writes_nan,
  pitch_ignored,
  pitch_counts_floats,
  adds_to_what_is_there,
  rounds_inputs_to_bf16,
  one_element_off,
  writes_before_the_output,
  batch_from_the_beginning,
  // the read-only pass
  read_tail_skipped,
  read_word_twice,
  read_vector_left_out,
  read_nothing,
  read_partial_unwritten,
};

/// A by columns, ld elements from one to the next.
template <Defect defect>
void product(int rows, int columns, const float* a, std::int64_t ld, const float* v, float* r) {
  if (defect == Defect::pitch_ignored) ld = rows;
  const int columns_end = defect == Defect::tail_skipped ? columns / 4 * 4 : columns;
  const int rows_end = defect == Defect::no_bounds_guard ? (rows + 31) / 32 * 32 : rows;
  for (int i = 0; i < rows_end; ++i) {
    float sum = 0;
    for (int j = 0; j < columns_end && i < rows; ++j) {
      const int column = defect == Defect::pitch_counts_floats ? 4 * j % columns : j;
      const int batch = kernels::matvec::constant_batch;
      float x = a[column * ld + i];
      if (defect == Defect::rows_and_columns_swapped)
        x = i < columns && j < rows ? a[i * ld + j] : 0.0f;
      const float y = v[defect == Defect::batch_from_the_beginning ? j % batch : j];
      sum += defect == Defect::rounds_inputs_to_bf16 ? bf16(x) * bf16(y) : x * y;
    }
    if (defect == Defect::last_row_unwritten && i == rows - 1) continue;
    if (defect == Defect::writes_nan && i == rows - 1) sum = NAN;
    if (defect == Defect::one_element_off && i == rows / 3) sum += 1;
    if (defect == Defect::writes_before_the_output) r[-1] = sum;
    r[i] = defect == Defect::adds_to_what_is_there ? r[i] + sum : sum;
  }
}

/// Everything into the first word. A by rows.
template <Defect defect>
void read(int rows, int columns, const float* a, std::int64_t ld, const float* v, float* r) {
  const int end = defect == Defect::read_tail_skipped ? columns / 4 * 4 : columns;
  std::uint32_t folded = reference::fold_words({rows, end, a, ld});
  if (defect != Defect::read_vector_left_out) folded ^= reference::fold_words({1, end, v, end});
  if (defect == Defect::read_word_twice && columns > 0) folded ^= std::bit_cast<std::uint32_t>(*v);
  if (defect == Defect::read_nothing) folded = 0;
  const int partials = kernels::fold_partials;
  std::fill_n(r, defect == Defect::read_partial_unwritten ? partials - 1 : partials, 0.0f);
  r[0] = std::bit_cast<float>(folded);
}

using matvec::cpu;

// clang-tidy takes the arguments of these templates for casts
// NOLINTBEGIN(google-readability-casting)
template <Defect defect>
constexpr Strategy product_row(std::string_view name) {
  return mutant(name, cpu<product<defect>>, Layout::column_major);
}
template <Defect defect>
constexpr Strategy read_row(std::string_view name) {
  return mutant(name, cpu<read<defect>>, Layout::row_major, &matvec::checksum);
}
// NOLINTEND(google-readability-casting)

constexpr Strategy rows[] = {
    product_row<Defect::none>("unspoiled"),
    product_row<Defect::no_bounds_guard>("no_bounds_guard"),
    product_row<Defect::rows_and_columns_swapped>("rows_and_columns_swapped"),
    product_row<Defect::tail_skipped>("tail_skipped"),
    product_row<Defect::last_row_unwritten>("last_row_unwritten"),
    product_row<Defect::writes_nan>("writes_nan"),
    product_row<Defect::pitch_ignored>("pitch_ignored"),
    product_row<Defect::pitch_counts_floats>("pitch_counts_floats"),
    product_row<Defect::adds_to_what_is_there>("adds_to_what_is_there"),
    product_row<Defect::rounds_inputs_to_bf16>("rounds_inputs_to_bf16"),
    product_row<Defect::one_element_off>("one_element_off"),
    product_row<Defect::writes_before_the_output>("writes_before_the_output"),
    product_row<Defect::batch_from_the_beginning>("batch_from_the_beginning"),
    read_row<Defect::none>("unspoiled_read"),
    read_row<Defect::read_tail_skipped>("read_tail_skipped"),
    read_row<Defect::read_word_twice>("read_word_twice"),
    read_row<Defect::read_vector_left_out>("read_vector_left_out"),
    read_row<Defect::read_nothing>("read_nothing"),
    read_row<Defect::read_partial_unwritten>("read_partial_unwritten"),
};

}  // namespace

std::span<const Strategy> matvec_cpu() { return rows; }

}  // namespace recheck::mutants
