// SPDX-License-Identifier: Apache-2.0
#include "experiments.hpp"
#include "harness/main.hpp"

int main(int argc, char** argv) { return recheck::main(argc, argv, recheck::experiments()); }
