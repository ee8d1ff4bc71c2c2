// SPDX-License-Identifier: Apache-2.0
#include "edge_proofs.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "../case/requirements.hpp"
#include "../case/rescue.hpp"

namespace recheck {

namespace {

/// The result of `body`; an exception of the row, even from describing itself, becomes a result.
Result result_of(const auto& body) {
  Result result;
  const auto failure = failure_of([&] { result = body(); });
  return failure.value_or(result);
}

}  // namespace

Proofs prove_edges(const Experiment& experiment, const Strategy& strategy, Targets& targets,
                   EdgeGates& gates) {
  Proofs found;
  const std::string row = std::string(experiment.name) + "/" + std::string(strategy.name) + "/";
  name_row(row);
  const auto refused = [&](const auto&... shape) {
    return result_of(
        [&] { return refuse(strategy, shape..., targets.gpu()).value_or(Result{Status::passed}); });
  };
  if (const Result row = refused();
      row.status == Status::not_run || row.status == Status::unsupported) {
    found.not_run = row.reason;
    return found;
  }
  for (const auto& shape : experiment.edges) {
    name_row(row + to_string(shape));
    const Result refusal = refused(shape);
    if (refusal.status == Status::unsupported) {
      found.unsupported[to_string(shape)] = refusal.reason.value_or("");
      continue;
    }
    for (const std::int64_t padding : {0, 3}) {
      if (padding > 0 && strategy.packed) continue;
      Target& target = targets.of(strategy.launch.backend);
      auto& gate = gates[{&target, shape, padding}];
      const Result result = !refusal.passed() ? refusal : result_of([&] {
        if (!gate) gate = std::make_unique<Gate>(experiment, shape, target, padding, 1);
        return gate->prove(strategy);
      });
      if (result.passed()) {
        ++found.passed;
      } else {
        gate.reset();  // leaves no results of this row to the next one
        found.wrong.push_back("at " + to_string(shape) + ", leading dimensions padded by " +
                              std::to_string(padding) + ": " + result.reason.value_or(""));
      }
    }
  }
  return found;
}

namespace {

constexpr int skipped = 77;  // the exit code that CTest can treat as a skip

/// Whether a row's failure has destroyed the device's context.
bool is_lost(const Strategy& strategy, Targets& targets) {
  return strategy.launch.backend == Backend::gpu && targets.gpu().device &&
         failure_of([&] { targets.of(Backend::gpu).synchronize(); });
}

/// Proves each of these cases and shows a profiler one launch of its row on reals, in their order.
/// Consecutive cases of one shape share operands.
int show_cases(std::span<const Experiment> experiments, const Choice& choice) {
  const auto planned = plan(experiments, choice).cases;
  Targets targets(find_gpu());
  std::unique_ptr<Gate> gate;
  auto lost = lost_row();
  bool all = !lost, right = !lost;
  for (const auto& id : choice.cases) {
    if (lost) {  // the previous process has shown the cases before it
      if (id != lost->row) continue;
      std::printf("%s: failed: %s\n", id.c_str(), lost->why.c_str());
      lost.reset();
      continue;
    }
    name_row(id);
    const Case& c = *std::ranges::find(planned, id, &Case::id);
    const auto shares = [&] {
      const Operands& operands = gate->operands();
      return &operands.experiment() == c.experiment && operands.shape() == c.shape &&
             operands.target().backend() == c.backend();
    };
    const Result result = result_of([&] {
      if (const auto refusal = refuse(*c.strategy, c.shape, targets.gpu())) return *refusal;
      Target& target = targets.of(c.backend());
      if (gate && !shares()) gate.reset();  // frees memory that the next shape may need
      if (!gate) gate = std::make_unique<Gate>(*c.experiment, c.shape, target, 0, 1);
      const Result proof = gate->prove(*c.strategy);
      if (proof.passed()) {
        Operands& operands = gate->operands();
        operands.prepare(*c.strategy, operands.reals());
        target.show(id, operands.launch(*c.strategy, operands.reals()));
      }
      return proof;
    });
    if (result.status == Status::failed && is_lost(*c.strategy, targets))
      give_row_up(result.reason.value_or(""));
    std::printf("%s: %s%s\n", id.c_str(), std::string(name_of(result.status)).c_str(),
                result.reason ? (": " + *result.reason).c_str() : "");
    all = all && result.passed();
    right = right && result.status != Status::incorrect && result.status != Status::failed;
  }
  return !right ? 1 : all ? 0 : skipped;
}

}  // namespace

int run_gate(std::span<const Experiment> experiments, const Choice& choice) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // each row's line appears at once, even in a file
  if (!choice.cases.empty()) return show_cases(experiments, choice);
  plan(experiments, choice);  // throws for unknown names
  Targets targets(find_gpu());
  auto lost = lost_row();
  bool all = true, right = !lost;
  for (const auto& experiment : experiments) {
    if (!wanted(choice.experiments, experiment.name)) continue;
    EdgeGates gates;
    for (const auto& strategy : experiment.ladder) {
      if (!wanted(choice.strategies, strategy.name)) continue;
      const std::string row =
          std::string(experiment.name) + "/" + std::string(strategy.name) + ": ";
      const auto say = [&](const std::string& what) {
        std::printf("%s%s\n", row.c_str(), what.c_str());
      };
      if (lost) {  // the previous process has proven the rows before it
        const std::string id = row.substr(0, row.size() - 2) + "/";
        if (!lost->row.starts_with(id)) continue;
        const std::string shape = lost->row.substr(id.size());
        say("WRONG " + (shape.empty() ? "" : "at " + shape + ": ") + lost->why);
        lost.reset();
        continue;
      }
      const Proofs found = prove_edges(experiment, strategy, targets, gates);
      if (found.not_run) {
        say("not run: " + *found.not_run);
        all = false;
        continue;
      }
      if (!found.wrong.empty() && is_lost(strategy, targets)) {
        name_row(row.substr(0, row.size() - 2) + "/");
        give_row_up(found.wrong.front());
      }
      const bool tried = found.passed > 0 || !found.wrong.empty();
      right &= tried && found.wrong.empty();
      constexpr std::ptrdiff_t said = 3;  // a row is often wrong at every shape in the same way
      const auto more = std::max<std::ptrdiff_t>(0, std::ssize(found.wrong) - said);
      for (const auto& line : std::span(found.wrong).first(found.wrong.size() - more))
        say("WRONG " + line);
      if (more > 0) say("WRONG in " + std::to_string(more) + " more proofs");
      if (!tried) say("WRONG: fits none of the shapes");
      if (found.wrong.empty() && tried)
        say("passed " + std::to_string(found.passed) + " times, " +
            std::to_string(found.unsupported.size()) + " shapes unsupported");
    }
  }
  return !right ? 1 : all ? 0 : skipped;
}

}  // namespace recheck
