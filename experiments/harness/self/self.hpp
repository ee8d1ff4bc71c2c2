// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "../table/experiment.hpp"

namespace recheck {

/// `experiments`, plus those about the machine and the harness that every record needs. Throws
/// std::invalid_argument if another experiment has one of their names.
std::vector<Experiment> with_self(std::span<const Experiment> experiments);

}  // namespace recheck
