// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <memory>

#include "../../../reference/parallel.hpp"
#include "cuda.hpp"

namespace recheck {

/// Copies between pageable memory and the device through two pinned buffers, which all cores fill
/// or empty: cudaMemcpy does that with one. Used for copies that are not timed.
class Staging {
 public:
  /// Queues on `stream`, and waits.
  explicit Staging(cudaStream_t stream) : stream_(stream) {
    for (auto& buffer : buffers_) {
      char* data = nullptr;
      check(cudaHostAlloc(&data, chunk, cudaHostAllocDefault));
      buffer.data.reset(data);
    }
  }

  void copy_in(void* device, const void* host, std::size_t bytes) {
    auto* to = static_cast<char*>(device);
    const auto* from = static_cast<const char*>(host);
    for (std::size_t at = 0, i = 0; at < bytes; at += chunk, ++i) {
      const Buffer& buffer = buffers_[i % 2];
      const auto size = std::min(chunk, bytes - at);
      check(cudaEventSynchronize(buffer.free));
      copy(buffer.data.get(), from + at, size);
      check(cudaMemcpyAsync(to + at, buffer.data.get(), size, cudaMemcpyHostToDevice, stream_));
      check(cudaEventRecord(buffer.free, stream_));
    }
    check(cudaStreamSynchronize(stream_));
  }

  void copy_out(void* host, const void* device, std::size_t bytes) {
    auto* to = static_cast<char*>(host);
    const auto* from = static_cast<const char*>(device);
    const auto size = [&](std::size_t at) { return std::min(chunk, bytes - at); };
    const auto queue = [&](std::size_t at) {
      const Buffer& buffer = buffers_[at / chunk % 2];
      check(
          cudaMemcpyAsync(buffer.data.get(), from + at, size(at), cudaMemcpyDeviceToHost, stream_));
      check(cudaEventRecord(buffer.free, stream_));
    };
    if (bytes > 0) queue(0);
    for (std::size_t at = 0; at < bytes; at += chunk) {
      if (at + chunk < bytes) queue(at + chunk);
      const Buffer& buffer = buffers_[at / chunk % 2];
      check(cudaEventSynchronize(buffer.free));
      copy(to + at, buffer.data.get(), size(at));
    }
  }

 private:
  static constexpr std::size_t chunk = 64 << 20;  // bytes

  static void copy(char* to, const char* from, std::size_t bytes) {
    reference::parallel_pieces(
        1, static_cast<std::int64_t>(bytes),
        [&](auto, auto begin, auto end) { std::memcpy(to + begin, from + begin, end - begin); });
  }

  struct Unpin {
    void operator()(char* data) const { cudaFreeHost(data); }
  };
  struct Buffer {
    std::unique_ptr<char, Unpin> data;
    Event free{[](cudaEvent_t* e) {  // recorded when the device no longer uses the buffer
      check(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
    }};
  };
  cudaStream_t stream_;
  std::array<Buffer, 2> buffers_;
};

}  // namespace recheck
