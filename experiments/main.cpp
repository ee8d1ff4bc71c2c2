// SPDX-License-Identifier: Apache-2.0
#include "experiments.hpp"
#include "recheck.hpp"

int main(int argc, char** argv) { return recheck::main(argc, argv, recheck::experiments()); }
