// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/experiments.hpp"

#include "../../experiments/peak/peak.hpp"

namespace recheck {

// the tests that the documents' rows share with these ones ask for it
std::span<const Experiment> experiments() { return peak::experiments(); }

}  // namespace recheck
