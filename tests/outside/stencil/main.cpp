// SPDX-License-Identifier: Apache-2.0
#include "stencil.hpp"

int main(int argc, char** argv) {
  const recheck::Experiment experiments[] = {stencil::experiment<float>(),
                                             stencil::experiment<recheck::fp16>()};
  return recheck::main(argc, argv, experiments);
}
