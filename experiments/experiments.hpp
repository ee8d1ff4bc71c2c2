// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/table/experiment.hpp"

namespace recheck {

/// Every experiment, in the order of the report.
std::span<const Experiment> experiments();

}  // namespace recheck
