// SPDX-License-Identifier: Apache-2.0
#include "harness/experiment.hpp"
#include "matmul/matmul.hpp"
#include "matvec/matvec.hpp"
#include "transpose/transpose.hpp"

namespace recheck {

std::span<const Experiment> experiments() {
  static const Experiment all[] = {matmul::experiment(matmul::ladder()),
                                   matvec::experiment(matvec::ladder()),
                                   transpose::experiment(transpose::ladder())};
  return all;
}

}  // namespace recheck
