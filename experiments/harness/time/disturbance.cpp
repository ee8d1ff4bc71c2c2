// SPDX-License-Identifier: Apache-2.0
#include "disturbance.hpp"

#include <algorithm>

#include "../table/method.hpp"

namespace recheck {
namespace {

/// Whether the clock was lower in disturbed blocks than in others.
bool slower_clock(const Case& c, const std::vector<bool>& disturbed) {
  std::vector<double> clocks[2];
  for (std::size_t i = 0; i < disturbed.size(); ++i)
    if (const auto clock = c.blocks[i].clock_hz) clocks[disturbed[i] ? 1 : 0].push_back(*clock);
  return !clocks[0].empty() && !clocks[1].empty() && middle(clocks[1]) < 0.9 * middle(clocks[0]);
}

/// Whether other programs used CPUs that a case could have used while its blocks were timed.
bool short_of_cpus(const CpuSeconds& passed) {
  constexpr double at_least = 0.1;  // seconds: the system counts in hundredths
  if (passed.at < at_least) return false;
  const double cpus = allowed_cpus();
  const double others = (passed.host - passed.own) / passed.at, own = passed.own / passed.at;
  return others > std::max(0.5, 0.05 * cpus) && others + own > 0.9 * cpus;
}

}  // namespace

std::vector<bool> disturbed_blocks(const Case& c) {
  std::vector<double> medians;
  std::size_t at = 0;
  for (const auto& block : c.blocks) {
    const auto count = static_cast<std::size_t>(block.count);
    medians.push_back(middle({&c.samples[at], &c.samples[at] + count}));
    at += count;
  }
  auto ordered = medians;
  std::ranges::sort(ordered);
  std::vector<bool> disturbed(medians.size());
  if (medians.size() < 2 || c.host_timed()) return disturbed;
  for (std::size_t i = 0; i < medians.size(); ++i)
    disturbed[i] = medians[i] > method.disturbed_above * ordered[1] + 1e-6;
  return disturbed;
}

void set_aside(Case& c, const std::vector<bool>& disturbed) {
  std::vector<double> kept;
  std::vector<Block> blocks;
  std::vector<SetAside> aside;
  std::size_t at = 0;
  for (std::size_t i = 0; i < disturbed.size(); ++i) {
    const auto begin = c.samples.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + c.blocks[i].count;
    at += static_cast<std::size_t>(c.blocks[i].count);
    if (disturbed[i]) {
      aside.push_back({c.blocks[i].round, {begin, end}});
    } else {
      kept.insert(kept.end(), begin, end);
      blocks.push_back(c.blocks[i]);
    }
  }
  if (aside.empty() || std::ssize(kept) < fewest_samples) return;
  c.samples = std::move(kept);
  c.blocks = std::move(blocks);
  c.set_aside = std::move(aside);
}

Reason disturbance(const Case& c, const std::vector<bool>& disturbed, const CpuSeconds& cpus,
                   const Load& load) {
  constexpr double used = 5;  // per cent of the GPU's time: a desktop's display takes less
  if (c.backend() == Backend::gpu && load.gpu_percent >= used)
    return "another process used the GPU";
  if (c.host_timed() && short_of_cpus(cpus)) return "other programs used the CPUs";
  if (4 * std::ranges::count(disturbed, true) <= std::ssize(disturbed)) return {};
  if (load.hot) return "the GPU lowered its clock to stay cool";
  if (slower_clock(c, disturbed)) return "the GPU's clock fell";
  return "the times jumped, and the harness does not see why";
}

}  // namespace recheck
