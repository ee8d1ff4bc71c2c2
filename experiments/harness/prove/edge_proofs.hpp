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

/// The proofs of a row at its experiment's edges, the awkward shapes, each with plain and with
/// padded leading dimensions.
struct Proofs {
  Reason not_run;                                  // why the row cannot be tried here
  int passed = 0;                                  // shapes, counted for each padding
  std::map<std::string, std::string> unsupported;  // by shape: why the row refuses it
  std::vector<std::string> wrong;                  // failures, a line each
};
/// The gates of edges, by target, shape and padding: an experiment's rows share operands and
/// oracles.
using EdgeGates = std::map<std::tuple<Target*, Shape, std::int64_t>, std::unique_ptr<Gate>>;
/// Gate::prove() at every edge; a row that throws has failed. `gates` belong to `experiment`.
Proofs prove_edges(const Experiment& experiment, const Strategy& strategy, Targets& targets,
                   EdgeGates& gates);

/// The command --gate: proves the chosen rows of `experiments` and prints a line for each. Returns
/// 1 if one was wrong or fits no shape, otherwise 77 if one could not be tried, otherwise 0. Chosen
/// cases are proven at their own shapes and shown to a profiler, with the same exit codes.
/// Continues after a row that ended the previous process. Throws std::invalid_argument, in one
/// line, for unknown names.
int run_gate(std::span<const Experiment> experiments, const Choice& choice);

}  // namespace recheck
