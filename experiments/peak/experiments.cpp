// SPDX-License-Identifier: Apache-2.0
#include "../experiments.hpp"

#include "peak.hpp"

namespace recheck {

// in the place of the documents' own (../experiments.cpp)
std::span<const Experiment> experiments() {
  static const Experiment all[] = {peak::matmul_experiment(), peak::matvec_experiment(),
                                   peak::transpose_experiment()};
  return all;
}

}  // namespace recheck
