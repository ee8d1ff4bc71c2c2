// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "timer.hpp"

namespace recheck {

// The regimes first and first_context: what the first GPU work of a process takes. Each sample is a
// process of its own, this program with another command line, so nothing that one has loaded or
// cached helps the next.

/// Times rows that are proven, all of one shape, in fresh processes: one for each row in every
/// round, in random order. Cases of a row in both regimes share the processes. Each output is
/// judged.
void time_first(Gate& gate, const Settings& settings, const Reporter& reporter,
                std::span<Case* const> cases);

/// What the command line of such a process begins with, before the id of its case.
inline constexpr std::string_view first_flag = "--first=";
/// Such a process: reads inputs from standard input, and writes times and outputs to standard
/// output. Returns the exit code.
int run_first(std::span<const Experiment> experiments, std::string_view id);

}  // namespace recheck
