// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "../base/clock.hpp"
#include "../base/text.hpp"
#include "../case/rescue.hpp"
#include "../table/method.hpp"
#include "disturbance.hpp"
#include "timer.hpp"

namespace recheck {
namespace {

/// Times a case's launches over seconds, and judges the output of the last one. Each row has its
/// own `round`, as rows do not alternate here.
Result sustain(Gate& gate, const Reporter& reporter, double guess, int& round, Case& c) {
  Target& target = gate.operands().target();
  if (target.backend() == Backend::gpu)
    std::this_thread::sleep_for(std::chrono::duration<double>(method.rest_seconds));
  BlockCheck check(gate, *c.strategy, c.regime, {.output = true, .fresh = false});
  const auto launch = gate.operands().rotating(*c.strategy, target.cache_bytes());
  const InRow in_row(2 * (method.settling_seconds + method.sustained_seconds) + 100 * guess);
  reporter.take_load();  // discard the load before these launches
  std::function<void()> restore;
  if (gate.operands().in_place(*c.strategy))
    restore = [&] { gate.operands().queue_prepare_output(*c.strategy); };
  auto [seconds, clocks, power, settling] = target.sustain(launch, guess, restore);
  c.disturbed = disturbance(c, {}, {}, reporter.take_load());
  c.blocks.clear();
  for (int i = 0; i < std::ssize(seconds); ++i) {
    c.blocks.push_back({round++, 1, {}});
    if (!clocks.empty() && clocks[i] > 0)
      c.blocks.back().clock_hz = std::round(clocks[i] / 1e6) * 1e6;
  }
  c.samples = std::move(seconds);
  c.power = power;
  c.settling = settling;
  auto result = check.judge();
  if (result.passed()) c.seconds = median_interval(c.samples);
  return result;
}

/// Why the times of all rows drifted, from the first row and its repetition at the end; nothing if
/// they agree within their intervals or half a per cent.
Reason drift(const Interval& first, const Interval& again) {
  const double half = 0.005 * first.median;
  if (again.low - half <= first.high && first.low <= again.high + half) return {};
  const double percent = 100 * (again.median / first.median - 1);
  return "the row that came first took " + short_text(std::abs(percent)) + " % " +
         (percent > 0 ? "longer" : "less") + " when it was measured again behind the others";
}

}  // namespace

void time_sustained(Gate& gate, const Settings& settings, const Reporter& reporter,
                    const LaunchSeconds& seconds, std::span<Case* const> cases) {
  std::vector<Case*> order(cases.begin(), cases.end());
  std::ranges::shuffle(order, std::mt19937_64(settings.seed));
  if (order.size() > 1) order.push_back(order[0]);
  std::map<Case*, Result> judged;
  Reason drifted;
  int round = 0;
  Target& target = gate.operands().target();
  for (Case* c : order) {
    reporter.spend({&c, 1}, target, [&]() -> std::optional<Result> {
      const auto before = c->seconds;
      auto result = sustain(gate, reporter, seconds.at(c->strategy), round, *c);
      if (!result.passed()) return result;
      if (before) drifted = drift(*before, *c->seconds);
      judged[c] = std::move(result);
      return {};
    });
  }
  for (const auto& one : judged)  // clang 14 cannot capture a structured binding
    reporter.spend({&one.first, 1}, target, [&]() -> std::optional<Result> {
      if (drifted) one.first->disturbed = drifted;
      return one.second;
    });
}

}  // namespace recheck
