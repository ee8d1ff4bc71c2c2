// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <mutex>

namespace recheck::kernels {

/// Orders launches that share a variable of a device, such as constant memory, and so must not
/// overlap. On one stream they do not. The first launch on another stream waits for the device, on
/// the host. An event after each launch would avoid this wait, but would be part of every measured
/// time. Launches must not be captured into graphs.
class OneStream {
 public:
  /// Calls `launch` while no other thread launches. Does not call it if the device has failed or
  /// may not be waited for; that error stays for the caller's cudaGetLastError.
  template <typename Launch>
  void in_turn(cudaStream_t stream, Launch launch) {
    const std::lock_guard alone(mutex_);
    int device = 0;
    unsigned long long id = 0;  // unique for good; a stream's handle may be reused
    if (cudaGetDevice(&device) != cudaSuccess || cudaStreamGetId(stream, &id) != cudaSuccess)
      return;
    unsigned long long& last = last_.try_emplace(device, id).first->second;
    if (id != last && cudaDeviceSynchronize() != cudaSuccess) return;
    last = id;
    launch();
  }

 private:
  std::mutex mutex_;
  std::map<int, unsigned long long> last_;  // id of the last launch's stream, by device
};

}  // namespace recheck::kernels
