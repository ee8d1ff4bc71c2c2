// SPDX-License-Identifier: Apache-2.0
#include "harness/experiment.hpp"
#include "matmul/matmul.hpp"

namespace recheck {

std::span<const Experiment> experiments() {
  static const Experiment all[] = {matmul::experiment(matmul::ladder())};
  return all;
}

}  // namespace recheck
