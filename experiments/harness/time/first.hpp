// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "timer.hpp"

namespace recheck {

// The regimes first and first_context: the time of a process's first GPU work. Each sample is a
// separate process, this program with another command line, so nothing that one has loaded or
// cached helps the next.

/// Times proven rows of one shape in fresh processes: one per row in every round, in random order.
/// A row's cases in both regimes share the processes. Each output is judged.
void time_first(Gate& gate, const Settings& settings, const Reporter& reporter,
                std::span<Case* const> cases);

/// The start of such a process's command line, followed by the id of its case.
inline constexpr std::string_view first_flag = "--first=";
/// The main function of such a process: reads inputs from standard input, and writes times and
/// outputs to standard output. Returns the exit code.
int run_first(std::span<const Experiment> experiments, std::string_view id);

}  // namespace recheck
