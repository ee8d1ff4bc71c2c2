// SPDX-License-Identifier: Apache-2.0
//
// One function for every shape, and one more for matrices stored by columns: where rows are short
// or few, which tables of large matrices do not know, by what they took (best_times.json); else the
// rung that was fastest nearest to the shape.

#include "../best.hpp"
#include "../call.hpp"
#include "../include/recheck/matvec.hpp"
#include "chunk.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

template <auto f>
constexpr auto run = queued<f, MatvecArgs>;

/// A warp has several such rows under way, and of one alone not enough.
bool short_rows(const GpuModel&, const MatvecArgs& p) {
  const bool many = p.rows >= 2048;
  return p.columns <= (all_on_vectors(p) ? many ? 1024 : 256 : many ? 256 : 128);
}

/// A warp loads all of such a row at once.
bool rows_of_one_step(const GpuModel&, const MatvecArgs& p) { return p.columns <= one_step(p); }

/// Rows that are so few that each has a block, which copies it ahead; but for those that a warp
/// loads sooner.
bool few_rows(const GpuModel&, const MatvecArgs& p) {
  const bool sooner =
      all_on_vectors(p) ? p.columns > 1024 && p.columns <= one_step(p) : p.columns <= 512;
  return p.rows <= 512 && !sooner;
}

/// Rows so long that a cluster shares each, and those that the others, which want whole vectors,
/// read in more steps than one.
bool long_rows(const GpuModel&, const MatvecArgs& p) {
  const bool vectors = all_on_vectors(p);
  if (p.rows <= 512) {
    const int one = p.rows <= 16 ? 9216 : vectors ? 16384 : 65536;  // what a block does as fast
    return p.rows <= 128 && p.columns >= one;
  }
  return !vectors && p.columns > one_step(p);
}

// whichever is first where several would be
constexpr Choice<MatvecArgs> choices_by_rows[] = {
    {.name = "rows_per_warp",
     .least = 75,
     .launch = run<rows_per_warp<128, 4, 2>>,
     .first = short_rows},
    {.name = "split_columns",
     .least = 90,
     .launch = run<split_columns<256, 2, 8>>,
     .first = long_rows},
    {.name = "bulk_copy", .least = 90, .launch = run<bulk_copy<256, 4096, 2>>, .first = few_rows},
    {.name = "vectorized",
     .least = 75,
     .launch = run<vectorized<128, 16>>,
     .first = rows_of_one_step},
};
constexpr Fastest<2> table_by_rows[] = {
#include "best.inc"
};
constexpr Rungs<MatvecArgs, 2> by_rows = {choices_by_rows, table_by_rows};
static_assert(by_rows.known());

std::int64_t floats_of_splits(const MatvecArgs& p) {
  return column_splits_floats(p.rows, p.columns, 128, 132);
}

/// Far more columns than rows, and not few words in all: many blocks share them.
bool long_sums(const GpuModel&, const MatvecArgs& p) {
  constexpr std::int64_t few = 1 << 19;
  return p.columns > 4096 && p.columns / 10 >= p.rows && std::int64_t{p.rows} * p.columns >= few;
}

constexpr Choice<MatvecArgs> choices_by_columns[] = {
    {.name = "column_splits",
     .least = 75,
     .launch = run<column_splits<1024, 32, 8, 132>>,
     .floats = floats_of_splits,
     .first = long_sums},
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

std::string_view best_on(const GpuModel& gpu, const MatvecArgs& p) {
  return choose(by_rows, gpu, p, {p.rows, p.columns}).name;
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

std::string_view best_column_major_on(const GpuModel& gpu, const MatvecArgs& p) {
  return choose(by_columns, gpu, p, {p.rows, p.columns}).name;
}

std::string_view best_column_major_rung(const MatvecArgs& p) noexcept {
  return rung_of(refuse(p, p.columns, p.rows), by_columns, p, {p.rows, p.columns});
}

Names best_column_major_rungs() noexcept {
  static constexpr auto names = names_of(choices_by_columns);
  return {names.data(), names.size()};
}

}  // namespace recheck::kernels::matvec
