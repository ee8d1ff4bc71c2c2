// SPDX-License-Identifier: Apache-2.0
#include "peak.hpp"

namespace recheck::peak {

std::span<const Experiment> experiments() {
  static const Experiment all[] = {matmul_experiment(), matvec_experiment(),
                                   transpose_experiment()};
  return all;
}

}  // namespace recheck::peak
