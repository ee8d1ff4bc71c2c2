// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "../harness/table/experiment.hpp"

namespace recheck::peak {

// Kernels beyond the documents, on the documents' problems. Each table begins with some of the
// documents' rows, so that its report shows the way from one to the other, and ends with the
// vendor's library and the ceilings.

Experiment matmul_experiment();
Experiment matvec_experiment();
Experiment transpose_experiment();
/// All three, in the order of the report.
std::span<const Experiment> experiments();

/// The named rows of a documents' table, then `own`, then that table's GPU baselines and ceilings.
inline std::vector<Strategy> with_rows(std::span<const Strategy> table,
                                       std::span<const std::string_view> named,
                                       std::span<const Strategy> own) {
  std::vector<Strategy> rows;
  std::ranges::copy_if(table, std::back_inserter(rows), [&](const Strategy& row) {
    return std::ranges::find(named, row.name) != named.end();
  });
  rows.insert(rows.end(), own.begin(), own.end());
  std::ranges::copy_if(table, std::back_inserter(rows), [](const Strategy& row) {
    return row.launch.backend == Backend::gpu &&
           (row.role == Role::baseline || row.role == Role::roof);
  });
  return rows;
}

}  // namespace recheck::peak
