// SPDX-License-Identifier: Apache-2.0
//
// One function for every shape, and one more for matrices stored by columns: the rung that was
// fastest nearest to it.

#include "../best.hpp"
#include "../call.hpp"
#include "../include/recheck/matvec.hpp"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

template <auto f>
constexpr auto run = queued<f, MatvecArgs>;

constexpr Choice<MatvecArgs> choices_by_rows[] = {
    {.name = "vectorized", .least = 75, .launch = run<vectorized<128, 16>>},
    {.name = "rows_per_warp", .least = 75, .launch = run<rows_per_warp<128, 4, 2>>},
    {.name = "bulk_copy", .least = 90, .launch = run<bulk_copy<256, 4096, 2>>},
    {.name = "split_columns", .least = 90, .launch = run<split_columns<256, 2, 8>>},
};
constexpr Fastest<2> table_by_rows[] = {
#include "best.inc"
};
constexpr Rungs<MatvecArgs, 2> by_rows = {choices_by_rows, table_by_rows};
static_assert(by_rows.known());

std::int64_t floats_of_splits(const MatvecArgs& p) {
  return column_splits_floats(p.rows, p.columns, 128, 132);
}

constexpr Choice<MatvecArgs> choices_by_columns[] = {
    {.name = "column_splits",
     .least = 75,
     .launch = run<column_splits<1024, 32, 8, 132>>,
     .floats = floats_of_splits},
    // clusters of 16 blocks are for chips that allow them, which 12.0 is not known to do
    {.name = "column_tiles", .least = 90, .most = 119, .launch = run<column_tiles<8, 2>>},
};
constexpr Fastest<2> table_by_columns[] = {
#include "best_column_major.inc"
};
constexpr Rungs<MatvecArgs, 2> by_columns = {choices_by_columns, table_by_columns};
static_assert(by_columns.known());

/// What is wrong with a call's arguments; of stored rows or columns there are `count`, `length`
/// long.
cudaError_t refuse(const MatvecArgs& p, int count, int length) {
  constexpr std::int64_t word = sizeof(float);
  const bool no_matrix = p.rows == 0 || p.columns == 0;
  return first_error({refuse_extent(p.rows), refuse_extent(p.columns),
                      refuse_ld(count, length, p.pitch / word),
                      p.pitch % word != 0 ? cudaErrorMisalignedAddress : cudaSuccess,
                      refuse_matrix(p.a, no_matrix), refuse_matrix(p.v, no_matrix),
                      refuse_matrix(p.r, p.rows == 0)});
}

}  // namespace

void best(const MatvecArgs& p, const Queue& queue) {
  choose(by_rows, current_gpu(), p, {p.rows, p.columns}).launch(p, queue);
}

cudaError_t best(const MatvecArgs& p, void* workspace, std::size_t& bytes, cudaStream_t stream,
                 std::string_view rung) noexcept {
  return call(refuse(p, p.rows, p.columns), by_rows, p, {p.rows, p.columns}, workspace, bytes,
              stream, rung);
}

std::string_view best_rung(const MatvecArgs& p) noexcept {
  return rung_of(refuse(p, p.rows, p.columns), by_rows, p, {p.rows, p.columns});
}

Names best_rungs() noexcept {
  static constexpr auto names = names_of(choices_by_rows);
  return {names.data(), names.size()};
}

void best_column_major(const MatvecArgs& p, const Queue& queue) {
  choose(by_columns, current_gpu(), p, {p.rows, p.columns}).launch(p, queue);
}

cudaError_t best_column_major(const MatvecArgs& p, void* workspace, std::size_t& bytes,
                              cudaStream_t stream, std::string_view rung) noexcept {
  return call(refuse(p, p.columns, p.rows), by_columns, p, {p.rows, p.columns}, workspace, bytes,
              stream, rung);
}

std::string_view best_column_major_rung(const MatvecArgs& p) noexcept {
  return rung_of(refuse(p, p.columns, p.rows), by_columns, p, {p.rows, p.columns});
}

Names best_column_major_rungs() noexcept {
  static constexpr auto names = names_of(choices_by_columns);
  return {names.data(), names.size()};
}

}  // namespace recheck::kernels::matvec
