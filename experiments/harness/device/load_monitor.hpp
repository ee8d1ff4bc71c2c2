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

/// What others took of the GPU since the call before.
struct Load {
  double gpu_percent = 0;  // of its time, the most in any second; 0 where the driver does not tell
  bool hot = false;        // whether the GPU lowered its clock to stay cool
};

/// What other processes take of a GPU and of its host, from one look to the next. NVML is asked in
/// look() alone, so nothing disturbs what is timed between.
///
/// It cannot know of what comes and goes between two looks, of clocks that are locked by
/// `nvidia-smi --lock-gpu-clocks` (the clock that each block of samples held is measured instead),
/// nor of processes where the driver lists none, as it may in a container.
class LoadMonitor {
 public:
  /// Takes a first look at the GPU at a PCI bus id; this process has a context there by now.
  /// CPU time is compared between looks that lie so many seconds apart.
  explicit LoadMonitor(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1",
                       const char* stat = "/proc/stat", double apart = 30);

  /// What has changed since the look before, a line each, for a person; at first also who is there
  /// from the beginning. Unless it is `due` by all means, it looks at most once a second.
  std::vector<std::string> look(bool due = false);

  /// The most that the looks have seen since the call before, its last look among them.
  Load take() { return std::exchange(most_load_, last_load_); }

  /// Puts what the looks have seen into a record's environment: the most other processes at once,
  /// or why that is not known; the most CPUs that others kept busy, if that is known.
  void note(nlohmann::ordered_json& environment) const;

 private:
  void look_at_gpu(std::vector<std::string>& changes);
  void look_at_host(std::vector<std::string>& changes);

  Nvml nvml_;
  const char* stat_;
  double apart_;
  double looked_ = 0;  // when
  Answer<int> most_;   // other processes, at once
  int others_ = 0;     // at the last look that could tell
  Load last_load_, most_load_;
  std::optional<int> most_percent_ = {};
  std::optional<CpuSeconds> host_ = {};
  std::optional<int> most_cpus_ = {};  // that others kept busy
};

/// Raises the most that was seen of others; none may be known yet.
void raise_to(nlohmann::ordered_json& most, int seen);

}  // namespace recheck
