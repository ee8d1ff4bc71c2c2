// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../keep/record.hpp"

namespace recheck {

/// What a user wants of the tables; an empty list wants everything.
struct Choice {
  std::vector<std::string> experiments = {}, strategies = {}, shapes = {}, regimes = {};
  // ids of cases: these alone, and all that is about the machine and the measurement
  std::vector<std::string> cases = {};

  /// Whether the matrix is cut to experiments, rows, shapes or regimes.
  [[nodiscard]] bool narrowed() const {
    return !experiments.empty() || !strategies.empty() || !shapes.empty() || !regimes.empty();
  }
};

/// Whether a list of a choice wants a name.
inline bool wanted(const std::vector<std::string>& list, std::string_view name) {
  return list.empty() || std::ranges::find(list, name) != list.end();
}

/// What matrices hold.
struct Held {
  double elements = 0, bytes = 0;
};
Held held_by(const std::vector<Extent>& matrices);

/// Whether a launch writes so much, next to what it reads, that bytes which stay in L2 matter: a
/// full run times such rows drained as well.
bool writes_much(const Experiment& experiment, const Strategy& strategy, const Shape& shape);

struct Planned {
  std::vector<Case> cases;  // in the order of the report
  Coverage coverage;
};

/// Every case of the tables that `choice` wants; its cases point into `experiments`. Throws
/// std::invalid_argument, in one line, for a choice that makes no sense or leaves nothing.
Planned plan(std::span<const Experiment> experiments, const Choice& choice);

/// Sets how long each case is expected to take by its work, with the figures of one GPU and its
/// host, scaled to what this GPU's attributes say; nothing where it cannot run, also for want of
/// memory, of which the host has so many bytes free. `expected` corrects them as a run goes.
void predict(std::span<Case> cases, const Settings& settings, const Gpu& gpu,
             std::int64_t host_free);

/// Sum of what is expected of some cases, in seconds.
double predicted(std::span<const Case> cases, auto predicate) {
  double sum = 0;
  for (const Case& c : cases)
    if (predicate(c)) sum += c.predicted;
  return sum;
}

/// Whether what one case took says something of another: a GPU row of every GPU row, and a CPU row
/// of those of its experiment alone, as hosts differ by what binds the rows.
inline bool share_a_pace(const Case& a, const Case& b) {
  const Backend of_a = a.backend(), of_b = b.backend();
  return of_a == of_b && (of_a == Backend::gpu || a.experiment == b.experiment);
}

/// What cases are expected to take as far as is known by now, in seconds: their prediction, by what
/// those of `all` that share their pace and have come to a result took against theirs.
double expected(std::span<const Case> all, auto predicate) {
  std::vector<const Case*> first;  // of those that share one
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
    // the first cases are the smallest and say least, so the prediction has the weight of a third
    const double weight = 1e-9 + 0.3 * predicted(all, here);
    const double pace = (spent + weight) / (predicted(all, done) + weight);
    sum += pace * predicted(all, [&](const Case& c) { return here(c) && predicate(c); });
  }
  return sum;
}

/// Drops cases until the rest is expected to fit into `seconds`, and says which and why. Sweeps go
/// before all else, larger shapes (measured by an experiment's headline) before smaller ones, and
/// headlines last; then what still fits comes back, the last dropped first, but no sweeps. `budget`
/// is how the user put it. Throws std::invalid_argument, in one line, where nothing fits.
std::vector<Dropped> fit(std::vector<Case>& cases, double seconds, const std::string& budget);

}  // namespace recheck
