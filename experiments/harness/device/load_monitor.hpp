// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../base/clock.hpp"
#include "../base/host_cpus.hpp"
#include "nvml.hpp"

namespace recheck {

/// The load that other processes put on the GPU since the previous call.
struct Load {
  double gpu_percent = 0;  // busiest second, % of its time; 0 if the driver reports none
  bool hot = false;        // whether the GPU lowered its clock to stay cool
};

/// Watches how much other processes use a GPU and its host. NVML is queried in look() only, so
/// nothing disturbs the timing in between.
///
/// It cannot see processes that come and go between two looks, or any where the driver lists none,
/// as in some containers. Nor does it see clocks locked by `nvidia-smi --lock-gpu-clocks`; instead,
/// the clock of each block of samples is measured.
class LoadMonitor {
 public:
  /// Takes a first look at the GPU with this PCI bus id, on which this process already has a
  /// context. CPU time is compared between looks that are at least this many seconds apart.
  explicit LoadMonitor(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1",
                       const char* stat = "/proc/stat", double apart = 30);

  /// Changes since the previous look, one line each, for a person; the first call also lists what
  /// was there from the start. Looks at most once a second unless `due`.
  std::vector<std::string> look(bool due = false);

  /// The highest load since the previous call, the last look included.
  Load take() { return std::exchange(most_load_, last_load_); }

  /// Records in a run's environment the most other processes at once, or why that is unknown, and
  /// the most CPUs that others kept busy, if known.
  void note(nlohmann::ordered_json& environment) const;

 private:
  void look_at_gpu(std::vector<std::string>& changes);
  void look_at_host(std::vector<std::string>& changes);

  Nvml nvml_;
  const char* stat_;
  double apart_;
  double looked_ = 0;  // time of the last look
  Answer<int> most_;   // most other processes at once
  int others_ = 0;     // at the last look that could count them
  Load last_load_, most_load_;
  std::optional<int> most_percent_ = {};
  std::optional<CpuSeconds> host_ = {};
  std::optional<int> most_cpus_ = {};  // kept busy by others
};

/// Raises the highest count seen, which may be unset.
void raise_to(nlohmann::ordered_json& most, int seen);

}  // namespace recheck
