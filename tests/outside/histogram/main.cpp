// SPDX-License-Identifier: Apache-2.0
#include "histogram.hpp"

int main(int argc, char** argv) {
  const recheck::Experiment experiments[] = {histogram::experiment()};
  return recheck::main(argc, argv, experiments);
}
