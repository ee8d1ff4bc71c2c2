// SPDX-License-Identifier: Apache-2.0
#include "runner.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "../base/clock.hpp"
#include "../case/requirements.hpp"
#include "../prove/soundness.hpp"
#include "first.hpp"

namespace recheck {
namespace {

/// The unfinished cases among these.
std::vector<Case*> open_cases(std::span<Case* const> cases, auto predicate) {
  std::vector<Case*> chosen;
  std::ranges::copy_if(cases, std::back_inserter(chosen),
                       [&](const Case* c) { return !c->result && predicate(*c); });
  return chosen;
}

std::vector<Case*> open_cases(std::span<Case* const> cases) {
  return open_cases(cases, [](const Case&) { return true; });
}

}  // namespace

void Runner::refuse_rows(std::span<Case* const> cases) {
  for (Case* c : open_cases(cases))
    reporter_.attempt(std::span(&c, 1), targets_.of(Backend::cpu),
                      [&] { return refuse(*c->strategy, c->shape, targets_.gpu()); });
}

void Runner::run(std::span<Case* const> cases) {
  refuse_rows(cases);
  for (const auto backend : {Backend::cpu, Backend::gpu}) {
    const auto own = open_cases(cases, [&](const Case& c) { return c.backend() == backend; });
    if (!own.empty() && !interrupted) run_on(backend, own);
  }
}

void Runner::run_on(Backend backend, std::span<Case* const> cases) {
  Target* target = nullptr;
  reporter_.attempt(cases, targets_.of(Backend::cpu), [&]() -> std::optional<Result> {
    target = &targets_.of(backend);
    return {};
  });
  if (target == nullptr) return;
  refuse_by_size(cases, *target);
  const auto wanted = open_cases(cases);
  if (wanted.empty()) return;
  std::unique_ptr<Gate> gate;
  reporter_.attempt(wanted, *target, [&]() -> std::optional<Result> {
    const Spend time(wanted[0]->spent);
    gate = std::make_unique<Gate>(*wanted[0]->experiment, wanted[0]->shape, *target, 0,
                                  settings_.seed);
    return {};
  });
  if (!gate) return;
  LaunchSeconds seconds;
  prove(*gate, wanted, seconds);
  time(*gate, wanted, seconds);
}

/// Ends cases for which memory or time is insufficient.
void Runner::refuse_by_size(std::span<Case* const> cases, Target& target) {
  for (Case* c : cases)
    reporter_.attempt(std::span(&c, 1), target, [&] {
      const Spend time(c->spent);
      const auto refusal = refuse_size(*c->experiment, c->shape, target.backend(),
                                       target.free_bytes(), targets_.of(Backend::cpu).free_bytes());
      return refusal ? refusal : pace_.too_slow(*c, target);
    });
}

/// Tries a row's check at an edge: spoiling and checking a large output takes one core seconds.
void Runner::try_small(const Gate& gate, const Strategy& strategy) {
  constexpr std::int64_t large = 1 << 20;
  const Experiment& experiment = gate.operands().experiment();
  const Soundness& check = Soundness::of(experiment.problem_of(strategy));
  if (gate.operands().output_floats() < large) return;
  for (auto edge = experiment.edges.rbegin(); edge != experiment.edges.rend(); ++edge) {
    if (!check.open()) return;
    if (experiment.is_empty(*edge) || refuse(strategy, *edge, targets_.gpu())) continue;
    Gate(experiment, *edge, gate.operands().target(), 0, settings_.seed).prove(strategy);
  }
}

void Runner::prove(Gate& gate, std::span<Case* const> cases, LaunchSeconds& seconds) {
  for (const auto& strategy : cases[0]->experiment->ladder) {
    const auto own = open_cases(cases, [&](const Case& c) { return c.strategy == &strategy; });
    if (own.empty()) continue;
    reporter_.spend(own, gate.operands().target(), [&]() -> std::optional<Result> {
      try_small(gate, strategy);
      auto result = gate.prove(strategy);
      const double launch = seconds[&strategy] = gate.proof_seconds().back();
      if (!result.passed()) return result;
      // a three-sample row has only one sample left to take, however slow
      const auto too_long = pace_.too_long(launch, most_budgets_of_a_proof);
      if (too_long && !own[0]->has_three_samples(launch))
        return because(ReasonCode::too_slow, "its proof took " + *too_long);
      for (Case* c : own)
        if (c->proofs_are_samples(launch)) c->samples = gate.proof_seconds();
      return {};
    });
  }
}

/// Times the unfinished cases, which have passed their proofs, one regime after another.
void Runner::time(Gate& gate, std::span<Case* const> cases, LaunchSeconds& seconds) {
  for (const auto& kind : regimes) {
    if (interrupted) return;
    // a row rejected in one regime is rejected in all
    for (const Case* rejected : cases) {
      if (!rejected->result || rejected->result->status != Status::incorrect) continue;
      const Result result = *rejected->result;
      for (Case* c :
           open_cases(cases, [&](const Case& c) { return c.strategy == rejected->strategy; }))
        reporter_.finish(*c, result);
    }
    const auto own = open_cases(cases, [&](const Case& c) { return c.regime == kind.regime; });
    switch (kind.timing) {
      case Timing::rounds:
        Timer(gate, settings_, reporter_, seconds).time(own);
        for (const Case* c : own)  // a time with copies includes more than launches
          if (c->seconds && !kind.copies) pace_.note(*c, c->seconds->median);
        break;
      case Timing::processes:
        // all such regimes together: a process gives one sample of each
        time_first(gate, settings_, reporter_, open_cases(cases, [](const Case& c) {
                     return c.kind().timing == Timing::processes;
                   }));
        break;
      case Timing::seconds:
        time_sustained(gate, settings_, reporter_, seconds, own);
    }
  }
}

}  // namespace recheck
