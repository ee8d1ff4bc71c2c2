// SPDX-License-Identifier: Apache-2.0
//
// One function for every shape, and one more for matrices stored by columns: the rung that was
// fastest nearest to it.

#include "../best.hpp"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

template <auto f>
constexpr auto run = queued<f, MatvecArgs>;

constexpr Choice<MatvecArgs> by_rows[] = {
    {"vectorized", 75, run<vectorized<128, 16>>},
    {"rows_per_warp", 75, run<rows_per_warp<128, 4, 2>>},
    {"bulk_copy", 90, run<bulk_copy<256, 4096, 2>>},
    {"split_columns", 90, run<split_columns<256, 2, 8>>},
};
constexpr Fastest<2> table_by_rows[] = {
#include "best.inc"
};
static_assert(known<MatvecArgs, 2>(by_rows, table_by_rows));

constexpr Choice<MatvecArgs> by_columns[] = {
    {"column_splits", 75, run<column_splits<1024, 32, 8, 132>>},
    {"column_tiles", 90, run<column_tiles<8, 2>>},
};
constexpr Fastest<2> table_by_columns[] = {
#include "best_column_major.inc"
};
static_assert(known<MatvecArgs, 2>(by_columns, table_by_columns));

}  // namespace

void best(const MatvecArgs& p, const Queue& queue) {
  choose<MatvecArgs, 2>(by_rows, table_by_rows, current_gpu(), {p.rows, p.columns})
      .launch(p, queue);
}

void best_column_major(const MatvecArgs& p, const Queue& queue) {
  choose<MatvecArgs, 2>(by_columns, table_by_columns, current_gpu(), {p.rows, p.columns})
      .launch(p, queue);
}

}  // namespace recheck::kernels::matvec
