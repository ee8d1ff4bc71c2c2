// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

int main(int argc, char** argv) {
  const recheck::Experiment experiments[] = {reduction::experiment()};
  return recheck::main(argc, argv, experiments);
}
