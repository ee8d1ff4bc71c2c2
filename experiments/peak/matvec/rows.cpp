// SPDX-License-Identifier: Apache-2.0
#include "../../../kernels/peak/matvec/matvec.hpp"
#include "../../harness/table/limits.hpp"
#include "../../matvec/matvec.hpp"
#include "../peak.hpp"

namespace recheck::peak {
namespace {

namespace k = kernels::matvec;
using matvec::gpu;

template <int cluster>
Reason column_tiles_fit(const Shape& s, const Device& device) {
  return cluster_fits(k::column_tiles_cluster(s[0], cluster), device);
}

// clang-format off
constexpr Strategy own[] = {
    {.name = "vectorized", .source = ours("a warp per row, four words a lane"), .parameters = {{{"block", 128}, {"unroll", 16}}}, .launch = gpu<k::vectorized<128, 16>>},
    {.name = "rows_per_warp", .source = ours("several rows per warp"), .parameters = {{{"block", 128}, {"rows", 4}, {"unroll", 2}}}, .launch = gpu<k::rows_per_warp<128, 4, 2>>},
    {.name = "split_columns", .source = ours("columns split over a cluster"), .parameters = {{{"block", 256}, {"unroll", 2}, {"cluster", 8}}}, .needs = from_capability<90>, .launch = gpu<k::split_columns<256, 2, 8>>},
    {.name = "column_tiles", .source = ours("by columns, tiles of rows"), .parameters = {{{"unroll", 8}, {"cluster", 2}}}, .layout = Layout::column_major, .needs = from_capability<90>, .fits = column_tiles_fit<2>, .launch = gpu<k::column_tiles<8, 2>>},
};
// clang-format on

/// The documents' rows: S3's first kernel, and the fastest by rows and by columns.
constexpr std::string_view documents[] = {"s3_naive", "warp_per_row", "shared"};

/// The documents' rows are timed at the headline shape, as sweeps are.
bool leaves_out(const Strategy& strategy, const Shape& shape, Regime regime) {
  const bool headline = shape == Shape{8192, 8192};
  if (regime != Regime::cold) return regime != Regime::hot || !headline || strategy.sweep;
  const bool of_documents = strategy.source.document != beyond && strategy.role == Role::rung;
  return (of_documents || strategy.sweep) && !headline;
}

}  // namespace

Experiment matvec_experiment() {
  static const auto ladder = with_rows(matvec::ladder(), documents, own);
  Experiment experiment = matvec::experiment(ladder);
  experiment.leaves_out = leaves_out;
  experiment.sustained = {"split_columns", "cublas", "column_tiles", "cublas_column_major"};
  return experiment;
}

}  // namespace recheck::peak
