// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "../plan/plan.hpp"
#include "gate.hpp"

namespace recheck {

/// What the gate says of a row at its experiment's edges, its awkward shapes, each with leading
/// dimensions as they are and padded.
struct Proofs {
  Reason not_run;                                  // why the row cannot be tried here at all
  int passed = 0;                                  // shapes, each padding apart
  std::map<std::string, std::string> unsupported;  // by the shape: why the row does not take it
  std::vector<std::string> wrong;                  // what was caught, a line each
};
/// The gates of edges, by target, shape and padding: rows of one experiment share their operands
/// and what is right of them.
using EdgeGates = std::map<std::tuple<Target*, Shape, std::int64_t>, std::unique_ptr<Gate>>;
/// As Gate::prove at every edge; what a row throws is what is wrong. `gates` are `experiment`'s.
Proofs prove_edges(const Experiment& experiment, const Strategy& strategy, Targets& targets,
                   EdgeGates& gates);

/// The command --gate: proves the rows that `choice` wants of `experiments` and prints a line for
/// each. Returns 1 where one was wrong or fits no shape, else 77 where one could not be tried, else
/// 0. Of a choice of cases it proves these at their own shapes, shows each to a profiler, and
/// returns the same: 1 where one is wrong or fails. Goes on behind a row at which the process
/// before has ended. Throws std::invalid_argument, in one line, for names that there are not.
int run_gate(std::span<const Experiment> experiments, const Choice& choice);

}  // namespace recheck
