// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/experiments.hpp"

#include "../../experiments/peak/peak.hpp"

namespace recheck {

// tests shared with the documents' rows call this
std::span<const Experiment> experiments() { return peak::experiments(); }

}  // namespace recheck
