// SPDX-License-Identifier: Apache-2.0
#include "../recheck.hpp"
#include "peak.hpp"

int main(int argc, char** argv) { return recheck::main(argc, argv, recheck::peak::experiments()); }
