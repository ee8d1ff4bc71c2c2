// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda.hpp"

namespace recheck {

/// Makes launches cold. It reads a buffer of zeros that is larger than L2, so L2 then holds nothing
/// of a launch's operands. A memset flushes L2 as well, but leaves it full of lines that the timed
/// launch has to write back, which made kernels up to 36 % slower on an H200. One L2 size of
/// reading was enough on an H100 and an H200; half was not. `method` reads twice as much, and at
/// least 32 MiB where L2 is small.
class Flush {
 public:
  /// Allocates the zeros. Throws DeviceError.
  explicit Flush(std::int64_t l2_bytes);

  /// Queues a read of the whole buffer. What L2 held before is written back to DRAM meanwhile.
  void queue(cudaStream_t stream) const;
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_;
  DeviceFloats zeros_;
};

}  // namespace recheck
