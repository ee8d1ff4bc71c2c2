// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>

#include "case.hpp"
#include "gate.hpp"
#include "reporter.hpp"

namespace recheck {

/// Times rows that are proven, all of one shape, over seconds: in random order, each after the same
/// rest, the first one again at the end. What the last launch of each leaves is judged.
void time_sustained(Gate& gate, const Settings& settings, const Reporter& reporter,
                    const std::map<const Strategy*, double>& seconds, std::span<Case* const> cases);

}  // namespace recheck
