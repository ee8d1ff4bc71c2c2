// SPDX-License-Identifier: Apache-2.0
#include "sustained.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "clock.hpp"
#include "method.hpp"
#include "rescue.hpp"
#include "text.hpp"

namespace recheck {
namespace {

/// Fills in what a case's launches take over seconds; what the last of them leaves.
Result sustain(Gate& gate, double guess, Case& c) {
  const Spend time(c.spent);
  Target& target = gate.operands().target();
  if (target.backend() == Backend::gpu)
    std::this_thread::sleep_for(std::chrono::duration<double>(method.rest_seconds));
  BlockCheck check(gate, *c.strategy, c.regime, {.output = true, .fresh = false});
  const auto launch = gate.operands().rotating(*c.strategy, target.cache_bytes());
  const InRow in_row(2 * (method.settling_seconds + method.sustained_seconds) + 100 * guess);
  auto [seconds, clocks, power, settling, settled] = target.sustain(launch, guess);
  for (int i = 0; i < std::ssize(seconds); ++i) {
    c.blocks.push_back({i, 1, {}});
    if (!clocks.empty() && clocks[i] > 0)
      c.blocks.back().clock_hz = std::round(clocks[i] / 1e6) * 1e6;
  }
  c.samples = std::move(seconds);
  c.power = power;
  c.settling = {settling, settled};
  auto result = check.judge();
  if (result.passed()) c.seconds = median_interval(c.samples);
  return result;
}

/// Why the times of all rows drifted, by the first one and the same at the end; nothing where they
/// agree within their intervals or half a per cent.
Reason drift(const Interval& first, const Interval& again) {
  const double half = 0.005 * first.median;
  if (again.low - half <= first.high && first.low <= again.high + half) return {};
  const double percent = 100 * (again.median / first.median - 1);
  return "the row that came first took " + short_text(std::abs(percent)) + " % " +
         (percent > 0 ? "longer" : "less") + " when it was measured again behind the others";
}

}  // namespace

void time_sustained(Gate& gate, const Settings& settings, const Reporter& reporter,
                    const std::map<const Strategy*, double>& seconds,
                    std::span<Case* const> cases) {
  std::vector<Case*> order(cases.begin(), cases.end());
  std::ranges::shuffle(order, std::mt19937_64(settings.seed));
  Target& target = gate.operands().target();
  std::map<const Case*, Result> judged;
  const auto attempt = [&](Case& c, auto body) {
    if (interrupted || c.result) return;
    reporter.show(c);
    Case* one = &c;
    reporter.attempt(std::span(&one, 1), target, body);
  };
  for (Case* c : order)
    attempt(*c, [&]() -> std::optional<Result> {
      auto result = sustain(gate, seconds.at(c->strategy), *c);
      if (!result.passed()) return result;
      judged[c] = std::move(result);
      return {};
    });
  std::erase_if(order, [&](const Case* c) { return !judged.contains(c); });
  Reason drifted;
  if (order.size() > 1)
    attempt(*order[0], [&]() -> std::optional<Result> {
      Case again{order[0]->experiment, order[0]->strategy, order[0]->shape, order[0]->regime};
      auto result = sustain(gate, seconds.at(again.strategy), again);
      order[0]->spent += again.spent;
      if (!result.passed()) return result;
      drifted = drift(*order[0]->seconds, *again.seconds);
      return {};
    });
  for (Case* c : order)
    attempt(*c, [&]() -> std::optional<Result> {
      c->disturbed = drifted;
      return judged.at(c);
    });
}

}  // namespace recheck
