// SPDX-License-Identifier: Apache-2.0
#include "pace.hpp"

#include <algorithm>
#include <cmath>

#include "../base/text.hpp"
#include "../case/requirements.hpp"
#include "../prove/gate.hpp"

namespace recheck {
namespace {

constexpr int launches_at_least = 2 + fewest_samples;
// launches shorter than this, in seconds, say little about larger shapes
constexpr double long_launch = 1e-3;

/// A shape of the same proportions, with about this part of the work.
Shape smaller(Shape shape, double part) {
  const double scale = std::pow(part, 1 / static_cast<double>(shape.size()));
  for (auto& extent : shape)
    extent = std::max<std::int64_t>(std::min<std::int64_t>(1, extent),
                                    std::llround(static_cast<double>(extent) * scale));
  return shape;
}

}  // namespace

void Pace::note(const Case& c, double seconds) {
  const double pace = seconds / c.work().size();
  const bool slow = seconds >= long_launch;
  auto known = known_.find(c.strategy);
  if (known == known_.end()) {
    if (!slow) return;
    known = known_.emplace(c.strategy, Known{pace, pace}).first;
  }
  // a short launch never looks faster than it is, so it may improve a known pace
  known->second.best = std::min(known->second.best, pace);
  if (slow) known->second.worst = std::max(known->second.worst, pace);
}

/// Seconds per Work::size() of a case's row at a smaller shape; nothing if it cannot run there.
std::optional<double> Pace::at(const Case& c, const Shape& small, Target& target) const {
  if (refuse(*c.strategy, small, gpu_)) return {};
  Gate gate(*c.experiment, small, target, 0, settings_.seed);
  gate.prove(*c.strategy);
  return gate.proof_seconds().back() / c.experiment->work(*c.strategy, small).size();
}

std::optional<Result> Pace::too_slow(const Case& c, Target& target) {
  const double size = c.work().size(), probe_size = 1e9;
  const auto proportions = std::pair(c.strategy, smaller(c.shape, 1e6 / size));
  if (!known_.contains(c.strategy)) {
    // no launch was long enough: try a smaller shape of the same proportions
    if (size <= 4 * probe_size) return {};
    const auto pace = at(c, smaller(c.shape, probe_size / size), target);
    if (!pace) return {};
    known_[c.strategy] = {*pace, *pace};
    tried_[proportions] = *pace;
  }
  // a size that happens to be slow should not condemn its neighbours, and one that happens to be
  // fast should not cost minutes on a slow one: take the geometric mean
  auto& [best, worst] = known_[c.strategy];
  double pace = std::sqrt(best * worst);
  // a long matrix says little about a square one. Before other shapes exclude a case, its own
  // proportions are tried, which takes half a second if the others are right
  if (too_long(pace * size, method.proof_budgets)) {
    const auto [own, is_new] = tried_.try_emplace(proportions, HUGE_VAL);
    const double part = std::min({1.0, probe_size / size, 0.5 / (pace * size)});
    if (is_new) own->second = at(c, smaller(c.shape, part), target).value_or(HUGE_VAL);
    best = std::min(best, own->second);
    pace = std::min(pace, own->second);
  }
  if (auto reason = too_long(pace * size, method.proof_budgets))
    return because(ReasonCode::too_slow, "predicted " + *reason);
  return {};
}

Reason Pace::too_long(double seconds, double budgets) const {
  const double allowed = budgets * settings_.budget_seconds;
  if (seconds * launches_at_least <= allowed) return {};
  return short_text(seconds) + " s a launch: " + std::to_string(launches_at_least) +
         " launches would take more than " + short_text(allowed) + " s, " + short_text(budgets) +
         " times --per-case";
}

}  // namespace recheck
