// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

#include "../table/result.hpp"

namespace recheck {

/// A failed CUDA call or launch, with CUDA's message and the place that noticed it.
class CudaError : public DeviceError {
 public:
  CudaError(cudaError_t code, const std::source_location& at)
      : DeviceError(std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code) + " (" +
                        base_name(at.file_name()) + ":" + std::to_string(at.line()) + ")",
                    code == cudaErrorMemoryAllocation),
        code(code) {}
  cudaError_t code;

 private:
  static std::string base_name(std::string_view path) {
    return std::string(path.substr(path.rfind('/') + 1));
  }
};

/// Throws CudaError unless `code` is success. Clears errors that are not sticky.
inline void check(cudaError_t code, std::source_location at = std::source_location::current()) {
  if (code == cudaSuccess) return;
  cudaGetLastError();
  throw CudaError(code, at);
}

/// Free bytes of the device.
inline std::int64_t free_memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(free);
}

/// Why no device can be used, in one line, from the result of asking for devices and the versions:
/// 1000 × major + 10 × minor, as CUDA reports them; 0 means that there is no driver.
Reason unusable(cudaError_t code, int device_count, int driver_version, int runtime_version);

/// Owns any CUDA handle. Errors of its destruction are ignored: a destructor cannot report them.
template <typename Handle, auto destroy>
class Owned {
 public:
  template <typename Create>
  explicit Owned(Create create) {
    create(&handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { destroy(handle_); }
  operator Handle() const { return handle_; }  // NOLINT: stands for the handle

 private:
  Handle handle_ = nullptr;
};
using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;

/// Allocates memory of the device. Throws DeviceError, with how much is free.
inline float* device_floats(std::int64_t count) {
  float* data = nullptr;
  const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
  const auto code = cudaMalloc(&data, bytes);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw DeviceError(
        not_enough_memory("GPU", static_cast<double>(bytes), static_cast<double>(free_memory())),
        true);
  }
  check(code);
  return data;
}
class DeviceFloats : public Owned<float*, cudaFree> {
 public:
  explicit DeviceFloats(std::int64_t count)
      : Owned([&](float** data) { *data = device_floats(count); }) {}
};

}  // namespace recheck
