// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "../table/strategy.hpp"

namespace recheck {

/// A value, or the reason for its absence in one line.
template <typename T>
struct Answer {
  std::optional<T> value;
  std::string reason;
};

/// nvmlProcessInfo_t, from its second version on.
struct ProcessInfo {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

/// nvmlProcessUtilizationSample_t: per cent of the units' time in the second before `timestamp`.
struct UtilizationSample {
  unsigned pid;
  unsigned long long timestamp;  // microseconds
  unsigned multiprocessors, memory, encoder, decoder;
};

/// NVIDIA's management library for one GPU, loaded at run time and used for queries only. If the
/// library or an answer is missing, the answer holds the reason; nothing throws.
class Nvml {
 public:
  /// The GPU at a PCI bus id as cudaDeviceGetPCIBusId() writes it: "0000:1B:00.0".
  explicit Nvml(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1");
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  /// Why nothing is known about this GPU: then the reason of every answer. Nothing if it answers.
  [[nodiscard]] const Reason& absent() const { return absent_; }

  [[nodiscard]] Answer<std::string> uuid() const;
  [[nodiscard]] Answer<double> temperature_c() const;
  [[nodiscard]] Answer<double> joules() const;       // since the driver was loaded
  [[nodiscard]] Answer<double> limit_watts() const;  // the lowest enforced limit
  [[nodiscard]] Answer<double> free_bytes() const;   // free memory
  [[nodiscard]] Answer<bool> ecc() const;
  [[nodiscard]] Answer<bool> mig() const;
  /// What limits the clock now, such as "sw_power_cap".
  [[nodiscard]] Answer<std::vector<std::string>> throttle() const;
  /// Processes with a compute context, other than this one. This process must have one: it is then
  /// in the list, though a container may show it under another id. An empty list means that the
  /// driver lists no processes at all.
  [[nodiscard]] Answer<int> other_processes() const;
  /// Per cent of the multiprocessors' time that those processes used in about the last second.
  [[nodiscard]] Answer<double> percent_of_others() const;

 private:
  /// Calls the first of `names` that the library has, with the device and `arguments`, whose types
  /// must be exactly those of nvml.h. Nothing if it succeeds, otherwise why not.
  template <typename... Arguments>
  Reason fails(std::initializer_list<const char*> names, Arguments... arguments) const;
  /// A function's output, which follows the arguments `before`, in its unit; of a mode, if it is
  /// on.
  [[nodiscard]] Answer<std::vector<unsigned>> processes() const;
  template <typename Raw, typename... Before>
  Answer<double> number(const char* name, double unit, Before... before) const;
  template <typename Raw>
  Answer<bool> mode(const char* name) const;

  void* library_ = nullptr;
  void* device_ = nullptr;
  bool initialized_ = false;
  Reason absent_;
};

}  // namespace recheck
