// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../experiments/experiments.hpp"

namespace recheck {

/// A row of an experiment's table, for a test per row.
struct Row {
  const Experiment* experiment;
  const Strategy* strategy;
};

/// The rows of all tables for which `wanted` is true.
std::vector<Row> rows_where(auto wanted) {
  std::vector<Row> chosen;
  for (const auto& experiment : experiments())
    for (const auto& strategy : experiment.ladder)
      if (wanted(strategy)) chosen.push_back({&experiment, &strategy});
  return chosen;
}

/// The name of its test, such as "matmul_tile16".
inline std::string name_of_row(const testing::TestParamInfo<Row>& info) {
  return std::string(info.param.experiment->name) + "_" + std::string(info.param.strategy->name);
}

}  // namespace recheck
