// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../table/experiment.hpp"

namespace recheck::machine {

/// The limits of this machine, as rows with a problem each: memory read, written and copied, the L2
/// cache read, multiply-adds from registers, and a launch. Shape {elements}.
Experiment experiment();

}  // namespace recheck::machine
