// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <mutex>

namespace recheck::kernels {

/// Launches that share a variable of a device, such as constant memory, and so must not overlap.
/// On one stream they do not. The first one on another stream waits for the device, on the host:
/// an event behind each launch would do without, but would be part of every time that is measured.
/// Launches are not to be captured into graphs.
class OneStream {
 public:
  /// Calls `launch` while no other thread launches. Not if the device has failed or may not be
  /// waited for; that error stays for the caller's cudaGetLastError.
  template <typename Launch>
  void in_turn(cudaStream_t stream, Launch launch) {
    const std::lock_guard alone(mutex_);
    int device = 0;
    unsigned long long id = 0;  // of a stream for good, where its handle may be another's later
    if (cudaGetDevice(&device) != cudaSuccess || cudaStreamGetId(stream, &id) != cudaSuccess)
      return;
    unsigned long long& last = last_.try_emplace(device, id).first->second;
    if (id != last && cudaDeviceSynchronize() != cudaSuccess) return;
    last = id;
    launch();
  }

 private:
  std::mutex mutex_;
  std::map<int, unsigned long long> last_;  // by the device, the id of the last launch's stream
};

}  // namespace recheck::kernels
