// SPDX-License-Identifier: Apache-2.0
#include "harness/main.hpp"

#include "experiments.hpp"

int main(int argc, char** argv) { return recheck::main(argc, argv, recheck::experiments()); }
