// SPDX-License-Identifier: Apache-2.0
#include "load_monitor.hpp"

#include <algorithm>
#include <cmath>

namespace recheck {

LoadMonitor::LoadMonitor(const std::string& pci_bus_id, const char* library, const char* stat,
                         double apart)
    : nvml_(pci_bus_id, library), stat_(stat), apart_(apart), most_(nvml_.other_processes()) {
  look(true);
  // processes that are already there are reported at the next look
  others_ = 0;
  looked_ = 0;
}

std::vector<std::string> LoadMonitor::look(bool due) {
  if (!due && now() < looked_ + 1) return {};
  looked_ = now();
  std::vector<std::string> changes;
  look_at_gpu(changes);
  look_at_host(changes);
  return changes;
}

void LoadMonitor::look_at_gpu(std::vector<std::string>& changes) {
  const auto others = nvml_.other_processes();
  if (others.value) {
    if (*others.value > others_)
      changes.push_back(std::to_string(*others.value) + " other process(es) on the GPU now");
    others_ = *others.value;
    most_.value = std::max(most_.value.value_or(0), others_);
  }
  const auto percent = nvml_.percent_of_others().value;
  if (percent) most_percent_ = std::max<int>(most_percent_.value_or(0), std::lround(*percent));
  last_load_ = {.gpu_percent = percent.value_or(0), .hot = false};
  for (const auto& reason : nvml_.throttle().value.value_or(std::vector<std::string>{}))
    last_load_.hot |= reason == "hw_slowdown" || reason.ends_with("thermal_slowdown");
  most_load_ = {.gpu_percent = std::max(most_load_.gpu_percent, last_load_.gpu_percent),
                .hot = most_load_.hot || last_load_.hot};
}

void LoadMonitor::look_at_host(std::vector<std::string>& changes) {
  const auto host = cpu_seconds(stat_);
  if (!host || (host_ && host->at < host_->at + apart_)) return;
  if (host_) {
    const double others = host->host - host_->host - (host->own - host_->own);
    const int cpus = static_cast<int>(std::lround(std::max(0.0, others / (host->at - host_->at))));
    if (cpus > most_cpus_.value_or(0))
      changes.push_back("other processes are using " + std::to_string(cpus) +
                        " CPU(s) of the host now: CPU and end-to-end times may be long");
    most_cpus_ = std::max(most_cpus_.value_or(0), cpus);
  }
  host_ = host;
}

void raise_to(nlohmann::ordered_json& most, int seen) {
  most = std::max(most.is_number() ? int{most} : 0, seen);
}

void LoadMonitor::note(nlohmann::ordered_json& environment) const {
  auto& state = environment["state"];
  auto& unknown = environment["unknown"];
  auto& others = state["other_processes"];
  if (most_.value) {
    raise_to(others, *most_.value);
    unknown.erase("state.other_processes");
  } else if (!others.is_number()) {
    unknown["state.other_processes"] = most_.reason;
  }
  if (most_cpus_) raise_to(state["other_cpus"], *most_cpus_);
  if (most_percent_) raise_to(state["other_gpu_percent"], *most_percent_);
}

}  // namespace recheck
