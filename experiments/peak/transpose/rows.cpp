// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../../../kernels/peak/transpose/transpose.hpp"
#include "../../harness/table/limits.hpp"
#include "../../transpose/transpose.hpp"
#include "../peak.hpp"

namespace recheck::peak {
namespace {

namespace k = kernels::transpose;
using transpose::gpu;

// clang-format off
constexpr Strategy own[] = {
    {.name = "wide_tiles", .source = ours("pieces of 16 bytes, a swizzled tile"), .parameters = {{{"tile", 64}, {"block", 256}}}, .launch = gpu<k::wide_tiles<64, 64, 256>>},
    {.name = "kept_lines", .source = ours("written lines leave L2 last"), .parameters = {{{"tile", 64}, {"block", 512}}}, .needs = from_capability<80>, .launch = gpu<k::kept_lines<64, 64, 512>>},
    {.name = "thin", .source = ours("few rows or columns: a copy"), .launch = gpu<k::thin>},
};
// clang-format on

/// Rows of the sample that S3 runs: a copy, the first transposition, and the fastest.
constexpr std::string_view documents[] = {"copy", "naive", "no_bank_conflicts"};

/// Sweeps and the documents' transpositions are timed at the headline shape; the copy wherever the
/// report needs a ceiling.
bool leaves_out(const Strategy& strategy, const Shape& shape, Regime regime) {
  const bool headline = shape == Shape{8192, 8192};
  if (regime != Regime::cold && regime != Regime::drained)
    return regime != Regime::hot || !headline || strategy.sweep;
  if (strategy.name == "copy") return false;
  const bool of_documents = strategy.source.document != beyond && strategy.role == Role::rung;
  return (of_documents || strategy.sweep) && !headline;
}

}  // namespace

Experiment transpose_experiment() {
  static const auto ladder = with_rows(transpose::ladder(), documents, own);
  Experiment experiment = transpose::experiment(ladder);
  experiment.leaves_out = leaves_out;
  const Shape odd = {2047, 2049};
  experiment.timed.insert(std::ranges::find(experiment.timed, Shape{4095, 4097}), odd);
  experiment.sustained = {"kept_lines", "cublas"};
  return experiment;
}

}  // namespace recheck::peak
