// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "../table/experiment.hpp"

namespace recheck {

/// `experiments`, and those about the machine and the harness that they lack: every record needs
/// these. Throws std::invalid_argument where another experiment has the name of one of these.
std::vector<Experiment> with_self(std::span<const Experiment> experiments);

}  // namespace recheck
