// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "../table/strategy.hpp"

namespace recheck {

/// A value, or in one line why there is none.
template <typename T>
struct Answer {
  std::optional<T> value;
  std::string reason;
};

/// What NVIDIA's management library says of one GPU. It is loaded at run time and only asked, never
/// told; where it or one of its answers is missing, the answer is the reason, and nothing throws.
class Nvml {
 public:
  /// The GPU at a PCI bus id as cudaDeviceGetPCIBusId() writes it: "0000:1B:00.0".
  explicit Nvml(const std::string& pci_bus_id, const char* library = "libnvidia-ml.so.1");
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  /// Why nothing is known of this GPU, which is then every answer's reason; nothing if it answers.
  [[nodiscard]] const Reason& absent() const { return absent_; }

  [[nodiscard]] Answer<std::string> uuid() const;
  [[nodiscard]] Answer<double> temperature_c() const;
  [[nodiscard]] Answer<double> joules() const;       // since the driver was loaded
  [[nodiscard]] Answer<double> limit_watts() const;  // the lowest that is enforced
  [[nodiscard]] Answer<double> free_bytes() const;   // of its memory
  [[nodiscard]] Answer<bool> ecc() const;
  [[nodiscard]] Answer<bool> mig() const;
  /// The UUID of a MIG instance, a part of this GPU, if CUDA's UUID of the device is that of one.
  [[nodiscard]] Answer<std::string> mig_instance(const std::string& cuda_uuid) const;
  /// What keeps the clock from rising now: "sw_power_cap", ...
  [[nodiscard]] Answer<std::vector<std::string>> throttle() const;
  /// Processes other than this one that have a compute context. This one has to have its own: it is
  /// one of those listed, if perhaps by another id, as in a container; and where none is, the
  /// driver lists none for anybody.
  [[nodiscard]] Answer<int> other_processes() const;
  /// Per cent of the multiprocessors' time that those processes took in about the last second.
  [[nodiscard]] Answer<double> percent_of_others() const;

 private:
  /// Calls the first of `names` that the library has with the device and `arguments`, which are
  /// exactly of nvml.h's types. Nothing if it succeeds, else why not.
  template <typename... Arguments>
  Reason fails(std::initializer_list<const char*> names, Arguments... arguments) const;
  /// What a function leaves behind `before`, times its unit; and of a mode, whether it is on.
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
