// SPDX-License-Identifier: Apache-2.0
//
// How long cases take, and which of them fit into a budget.

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>

#include "../base/text.hpp"
#include "../case/requirements.hpp"
#include "../table/method.hpp"
#include "plan.hpp"

namespace recheck {

using Json = nlohmann::ordered_json;

Held held_by(const std::vector<Extent>& matrices) {
  Held held;
  for (const auto& m : matrices) {
    const auto elements = static_cast<double>(m.rows * m.columns);
    held.elements += elements;
    held.bytes += elements * static_cast<double>(size_of(m.element));
  }
  return held;
}

namespace {

constexpr double flush_seconds = 1e-4;       // to flush L2 before a cold sample
constexpr double block_overhead = 1e-3;      // to poison the output, read clocks and wait
constexpr double process_seconds = 0.5;      // for a process to create a CUDA context
constexpr double few_launch_seconds = 3e-5;  // shorter launches share a hot sample

/// Estimated overhead of one sample in seconds: flush, copies, or the other launches of a batch and
/// the hold until all are queued.
double sample_overhead(const Case& c, double launch, double held_bytes) {
  if (c.kind().flushes) return (c.kind().drains ? 4 : 1) * flush_seconds;
  if (c.kind().copies) return 1e-3 + held_bytes / 1.2e10;
  return c.kind().batches && launch < few_launch_seconds ? 3e-4 : launch + 5e-5;
}

/// The rates of an average GPU row: the share of the GPU's limits that it reaches on an H200, or
/// the H200's rate if a limit is unknown.
struct Rates {
  double flops, bytes;
};
Rates rates_of(const Gpu& gpu) {
  const Json limits = ceilings(gpu);
  const auto reached = [&](const char* limit, double share, double on_h200) {
    const double value = limits.contains(limit) ? double{limits[limit]["value"]} : 0;
    return value > 0 ? share * value : on_h200;
  };
  return {.flops = reached("fp32_flops", 0.3, 2e13),
          .bytes = reached("dram_bytes_per_second", 0.31, 1.5e12)};
}

/// Seconds for a case's proofs and samples, estimated only from its work. The figures are those of
/// an H200's host and of an average row. They suffice to rank cases, and to distinguish minutes
/// from hours.
double model(const Case& c, const Settings& settings, const Rates& rates) {
  const Work work = c.work();
  const double bytes = held_by(c.experiment->problem_of(*c.strategy).output(c.shape)).bytes +
                       held_by(c.experiment->inputs(c.shape)).bytes;
  // a row that is timed drained is also timed cold, and proven only once
  const double proofs = c.kind().drains ? 0 : 0.03 + bytes / 8e9;
  const double budget = settings.budget_seconds;
  if (c.backend() == Backend::cpu) {
    // a library uses all cores. The documents' programs use one, which mostly waits for operands if
    // they exceed its caches and each is needed often
    const bool waits = work.bytes >= 8e6 && work.flops > 10 * work.bytes;
    const double flop_rate = c.strategy->role == Role::baseline ? 5e10 : waits ? 7e8 : 3e9;
    const double launch = 1e-6 + std::max(work.flops / flop_rate, work.bytes / 5e9);
    const int launches = c.proofs_are_samples(launch) ? fewest_samples : 2 + fewest_samples;
    if (launches * launch > method.proof_budgets * budget) return 0;  // too slow to be tried
    return proofs +
           std::max(method.most_budgets_host_timed * budget,
                    (c.has_three_samples(launch) ? fewest_long_samples : launches) * launch);
  }
  const double launch =
      (5e-6 + std::max(work.flops / rates.flops, work.bytes / rates.bytes)) * c.kind().repeats;
  if (c.kind().timing == Timing::processes) return method.first_processes * process_seconds / 2;
  if (c.kind().timing == Timing::seconds)
    return method.rest_seconds + 0.4 * method.settling_seconds + method.sustained_seconds;
  const double sample = sample_overhead(c, launch, bytes) + launch;
  const double block =
      block_overhead + sample * std::clamp(method.block_seconds / launch, 1.0,
                                           static_cast<double>(method.block_samples));
  return proofs + std::max(fewest_samples * block,
                           std::min(method.rounds * block, method.most_budgets * budget));
}

}  // namespace

void predict(std::span<Case> cases, const Settings& settings, const Gpu& gpu,
             std::int64_t host_free) {
  const Rates rates = rates_of(gpu);
  const auto device_free = gpu.device.value_or(Device{}).free_bytes;
  std::map<std::tuple<const Experiment*, Shape, Backend>, bool> room;
  for (Case& c : cases) {
    const auto [known, is_new] = room.try_emplace({c.experiment, c.shape, c.backend()});
    if (is_new)
      known->second = !refuse_size(*c.experiment, c.shape, c.backend(), device_free, host_free);
    const bool runs = known->second && !refuse(*c.strategy, c.shape, gpu);
    c.predicted = runs ? model(c, settings, rates) : 0;
  }
  // the first of a shape's sustained rows is measured again at the end
  std::map<std::pair<const Experiment*, Shape>, std::vector<Case*>> sustained;
  for (Case& c : cases)
    if (c.kind().timing == Timing::seconds && c.predicted > 0)
      sustained[{c.experiment, c.shape}].push_back(&c);
  for (const auto& [group, all] : sustained)
    if (all.size() > 1) all[0]->predicted *= 2;
}

std::vector<Dropped> fit(std::vector<Case>& cases, double seconds, const std::string& budget) {
  // the sweeps of a shape, or its other cases
  struct Part {
    const Experiment* experiment;
    Shape shape;
    bool sweeps;
    double cost = 0;
    bool out = false;
    [[nodiscard]] bool holds(const Case& c) const {
      return c.experiment == experiment && c.shape == shape && c.strategy->sweep == sweeps;
    }
    [[nodiscard]] auto order() const {
      const auto size = [&](const Shape& s) { return experiment->problem.work(s).size(); };
      const auto& headline = experiment->headline;
      return std::tuple(shape == headline, !sweeps, -size(shape) / std::max(1.0, size(headline)));
    }
  };
  std::vector<Part> parts;
  double total = 0;
  for (const Case& c : cases) {
    auto part = std::ranges::find_if(parts, [&](const Part& p) { return p.holds(c); });
    if (part == parts.end())
      part = parts.insert(part, Part{c.experiment, c.shape, c.strategy->sweep});
    part->cost += c.predicted;
    total += c.predicted;
  }
  std::ranges::stable_sort(parts, {}, &Part::order);
  for (Part& part : parts) {
    if (total <= seconds) break;
    if (part.cost == 0) continue;  // nothing runs there, and giving the reasons takes no time
    part.out = true;
    total -= part.cost;
  }
  for (std::size_t i = parts.size(); i-- > 0;) {
    Part& part = parts[i];
    if (!part.out || part.sweeps || total + part.cost > seconds) continue;
    part.out = false;
    total += part.cost;
  }
  std::erase_if(parts, [](const Part& part) { return part.cost == 0; });
  if (!parts.empty() && std::ranges::all_of(parts, &Part::out))
    throw std::invalid_argument(
        "--budget=" + budget +
        " has no room for anything: the quickest shape is predicted to take " +
        short_text(std::ranges::min(parts, {}, &Part::cost).cost) + " s");
  std::vector<Dropped> dropped;
  for (const Part& part : parts) {
    if (!part.out) continue;
    dropped.push_back({std::string(part.experiment->name), to_string(part.shape),
                       std::string(part.sweeps ? "its sweeps, " : "") + "predicted to take " +
                           short_text(part.cost) + " s: no room in --budget=" + budget});
    std::erase_if(cases, [&](const Case& c) { return part.holds(c); });
  }
  return dropped;
}

}  // namespace recheck
