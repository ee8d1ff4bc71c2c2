// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_reduce.cuh>

#include "reduce.hpp"

namespace reduction {

void library(const Args& args, cudaStream_t stream) {
  std::size_t bytes = static_cast<std::size_t>(partials(args.count)) * sizeof(int);
  cub::DeviceReduce::Sum(args.workspace, bytes, args.in, args.out, args.count, stream);
}

}  // namespace reduction
