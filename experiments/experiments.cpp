// SPDX-License-Identifier: Apache-2.0
#include "experiments.hpp"

#include "harness/self/self.hpp"
#include "matmul/matmul.hpp"
#include "matvec/matvec.hpp"
#include "memory/memory.hpp"
#include "transpose/transpose.hpp"

namespace recheck {

std::span<const Experiment> experiments() {
  static const Experiment all[] = {matmul::experiment(matmul::ladder()),
                                   matvec::experiment(matvec::ladder()),
                                   transpose::experiment(transpose::ladder()),
                                   memory::experiment(memory::ladder()),
                                   machine::experiment(),
                                   audit::experiment()};
  return all;
}

}  // namespace recheck
