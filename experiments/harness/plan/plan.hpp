// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../keep/record.hpp"

namespace recheck {

/// A user's choice from the tables; an empty list chooses everything.
struct Choice {
  std::vector<std::string> experiments = {}, strategies = {}, shapes = {}, regimes = {};
  // ids of cases: only these, and the cases about the machine and the harness
  std::vector<std::string> cases = {};

  /// Whether the choice is limited to some experiments, rows, shapes or regimes.
  [[nodiscard]] bool narrowed() const {
    return !experiments.empty() || !strategies.empty() || !shapes.empty() || !regimes.empty();
  }
};

/// Whether a list of a choice includes a name.
inline bool wanted(const std::vector<std::string>& list, std::string_view name) {
  return list.empty() || std::ranges::find(list, name) != list.end();
}

/// The elements and bytes that matrices hold.
struct Held {
  double elements = 0, bytes = 0;
};
Held held_by(const std::vector<Extent>& matrices);

/// Whether a launch writes so much, compared with its reads, that bytes left in L2 matter: a full
/// run times such rows drained as well.
bool writes_much(const Experiment& experiment, const Strategy& strategy, const Shape& shape);

struct Planned {
  std::vector<Case> cases;  // in the order of the report
  Coverage coverage;
};

/// Every case that `choice` selects; the cases point into `experiments`. Throws
/// std::invalid_argument, in one line, if the choice is invalid or selects nothing.
Planned plan(std::span<const Experiment> experiments, const Choice& choice);

/// Predicts each case's duration from its work, with the figures of one GPU and its host scaled to
/// this GPU's attributes. 0 if it cannot run, for example because memory is short; `host_free` is
/// the host's, in bytes. expected() corrects the predictions during a run.
void predict(std::span<Case> cases, const Settings& settings, const Gpu& gpu,
             std::int64_t host_free);

/// The sum of some cases' predictions, in seconds.
double predicted(std::span<const Case> cases, auto predicate) {
  double sum = 0;
  for (const Case& c : cases)
    if (predicate(c)) sum += c.predicted;
  return sum;
}

/// Whether one case's duration helps to predict another's. GPU rows share one pace; CPU rows share
/// one per experiment, as hosts differ in what limits the rows.
inline bool share_a_pace(const Case& a, const Case& b) {
  const Backend of_a = a.backend(), of_b = b.backend();
  return of_a == of_b && (of_a == Backend::gpu || a.experiment == b.experiment);
}

/// The expected seconds of cases as far as is known by now: their predictions, scaled by how the
/// finished cases of `all` with the same pace took compared with theirs.
double expected(std::span<const Case> all, auto predicate) {
  std::vector<const Case*> first;  // one case for each pace
  for (const Case& c : all)
    if (std::ranges::none_of(first, [&](const Case* f) { return share_a_pace(*f, c); }))
      first.push_back(&c);
  double sum = 0;
  for (const Case* f : first) {
    const auto here = [&](const Case& c) { return share_a_pace(*f, c); };
    const auto done = [&](const Case& c) { return here(c) && c.result.has_value(); };
    double spent = 0;
    for (const Case& c : all)
      if (done(c)) spent += c.spent;
    // the first cases are the smallest and say least, so the prediction counts for a third
    const double weight = 1e-9 + 0.3 * predicted(all, here);
    const double pace = (spent + weight) / (predicted(all, done) + weight);
    sum += pace * predicted(all, [&](const Case& c) { return here(c) && predicate(c); });
  }
  return sum;
}

/// Drops cases until the rest is expected to fit into `seconds`; returns which and why. Sweeps go
/// first, then larger shapes before smaller ones (relative to the experiment's headline), then
/// headlines. Shapes that still fit return, last dropped first, without sweeps. `budget` is the
/// user's text. Throws std::invalid_argument, in one line, if nothing fits.
std::vector<Dropped> fit(std::vector<Case>& cases, double seconds, const std::string& budget);

}  // namespace recheck
