// SPDX-License-Identifier: Apache-2.0
//
// The few functions of nvml.h that we need, looked up by name: a build requires neither the header
// nor the library, and runs with any driver.
#include "nvml.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace recheck {
namespace {

/// A function of the library; null if the driver is too old to have it.
template <typename Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

std::string not_measured(const std::string& why) { return "not measured: " + why; }

/// Nothing if `code`, an nvmlReturn_t, is success; otherwise why `name` failed.
Reason failure(void* library, const char* name, int code) {
  if (code == 0) return {};
  auto* text = find<const char*(int)>(library, "nvmlErrorString");
  return not_measured(std::string(name) + ": " +
                      (text != nullptr ? text(code) : "error " + std::to_string(code)));
}

template <typename T>
Answer<T> answer(const Reason& failed, T value) {
  if (failed) return {{}, *failed};
  return {std::move(value), ""};
}

/// Bits of the clock's throttle reasons, lowest first.
constexpr std::string_view throttle_names[] = {"gpu_idle",
                                               "applications_clocks_setting",
                                               "sw_power_cap",
                                               "hw_slowdown",
                                               "sync_boost",
                                               "sw_thermal_slowdown",
                                               "hw_thermal_slowdown",
                                               "hw_power_brake",
                                               "display_clock_setting"};

}  // namespace

Nvml::Nvml(const std::string& pci_bus_id, const char* library)
    : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    absent_ = not_measured(std::string(library) + " was not found");
    return;
  }
  auto* init = find<int()>(library_, "nvmlInit_v2");
  auto* by_bus_id = find<int(const char*, void**)>(library_, "nvmlDeviceGetHandleByPciBusId_v2");
  if (init == nullptr || by_bus_id == nullptr) {
    absent_ = not_measured(std::string(library) + " has no nvmlInit_v2");
    return;
  }
  absent_ = failure(library_, "nvmlInit_v2", init());
  if (absent_) return;
  initialized_ = true;
  absent_ = failure(library_, "nvmlDeviceGetHandleByPciBusId_v2",
                    by_bus_id(pci_bus_id.c_str(), &device_));
}

Nvml::~Nvml() {
  if (initialized_)
    if (auto* shutdown = find<int()>(library_, "nvmlShutdown")) shutdown();
  if (library_ != nullptr) dlclose(library_);
}

template <typename... Arguments>
Reason Nvml::fails(std::initializer_list<const char*> names, Arguments... arguments) const {
  if (absent_) return absent_;
  for (const char* name : names)
    if (auto* function = find<int(void*, Arguments...)>(library_, name))
      return failure(library_, name, function(device_, arguments...));
  return not_measured(std::string("the driver has no ") + *names.begin());
}

Answer<std::string> Nvml::uuid() const {
  char text[96] = "";
  const auto failed = fails({"nvmlDeviceGetUUID"}, &text[0], static_cast<unsigned>(sizeof text));
  return answer(failed, std::string(text));
}

template <typename Raw, typename... Before>
Answer<double> Nvml::number(const char* name, double unit, Before... before) const {
  Raw raw = 0;
  const auto failed = fails({name}, before..., &raw);
  return answer(failed, static_cast<double>(raw) * unit);
}

template <typename Raw>
Answer<bool> Nvml::mode(const char* name) const {
  Raw current = 0, pending = 0;
  const auto failed = fails({name}, &current, &pending);
  return answer(failed, current != 0);
}

Answer<double> Nvml::temperature_c() const {
  constexpr int of_the_gpu = 0;
  return number<unsigned>("nvmlDeviceGetTemperature", 1, of_the_gpu);
}
Answer<double> Nvml::joules() const {
  return number<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", 1e-3);
}
Answer<double> Nvml::free_bytes() const {
  struct Memory {
    unsigned long long total, free, used;
  } memory{};
  const auto failed = fails({"nvmlDeviceGetMemoryInfo"}, &memory);
  return answer(failed, static_cast<double>(memory.free));
}
Answer<double> Nvml::limit_watts() const {
  return number<unsigned>("nvmlDeviceGetEnforcedPowerLimit", 1e-3);
}
Answer<bool> Nvml::ecc() const { return mode<int>("nvmlDeviceGetEccMode"); }
Answer<bool> Nvml::mig() const { return mode<unsigned>("nvmlDeviceGetMigMode"); }

Answer<std::vector<std::string>> Nvml::throttle() const {
  unsigned long long bits = 0;
  // renamed in driver 535
  const auto failed =
      fails({"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"},
            &bits);
  std::vector<std::string> names;
  for (std::size_t bit = 0; bits >> bit != 0; ++bit)
    if ((bits >> bit & 1) != 0)
      names.emplace_back(bit < std::size(throttle_names) ? throttle_names[bit]
                                                         : "bit_" + std::to_string(bit));
  return answer(failed, names);
}

Answer<std::vector<unsigned>> Nvml::processes() const {
  std::vector<ProcessInfo> processes(64);
  unsigned count = 0;
  Reason failed;
  // with too little room it fails and returns the count, which may have grown by the retry
  for (int attempt = 0; attempt < 3; ++attempt) {
    count = static_cast<unsigned>(processes.size());
    failed = fails(
        {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"},
        &count, processes.data());
    if (count <= processes.size()) break;
    processes.resize(2 * count);
  }
  if (!failed && count == 0)
    failed = not_measured("the driver lists no process here, not even this one");
  std::vector<unsigned> ids;
  for (unsigned i = 0; !failed && i < std::min<std::size_t>(count, processes.size()); ++i)
    ids.push_back(processes[i].pid);
  return answer(failed, ids);
}

Answer<int> Nvml::other_processes() const {
  const auto ids = processes();
  if (!ids.value) return {{}, ids.reason};
  return {static_cast<int>(ids.value->size()) - 1, ""};
}

Answer<double> Nvml::percent_of_others() const {
  const auto ids = processes();
  if (!ids.value) return {{}, ids.reason};
  if (ids.value->size() == 1) return {0, ""};
  const auto own = static_cast<unsigned>(getpid());
  if (std::ranges::find(*ids.value, own) == ids.value->end())
    return {{}, not_measured("the driver lists this process by another id")};
  std::vector<UtilizationSample> samples(1024);
  auto count = static_cast<unsigned>(samples.size());
  constexpr unsigned long long from_the_first = 0;
  constexpr const char* name = "nvmlDeviceGetProcessUtilization";
  if (auto failed = fails({name}, samples.data(), &count, from_the_first)) return {{}, *failed};
  samples.resize(std::min<std::size_t>(count, samples.size()));
  std::map<unsigned, UtilizationSample> latest;
  unsigned long long now = 0;
  for (const auto& sample : samples) {
    now = std::max(now, sample.timestamp);
    auto& known = latest[sample.pid];
    if (sample.timestamp >= known.timestamp) known = sample;
  }
  double percent = 0;
  // ended processes keep their samples for some seconds
  constexpr unsigned long long recent = 1'500'000;
  for (const auto& [pid, sample] : latest)
    if (pid != own && sample.timestamp + recent >= now) percent += sample.multiprocessors;
  return {percent, ""};
}

}  // namespace recheck
