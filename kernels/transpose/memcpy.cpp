// SPDX-License-Identifier: Apache-2.0
//
// The driver's own copy within device memory: the roof of every kernel that reads a matrix once and
// writes it once.

#include <cuda_runtime.h>

#include "transpose.hpp"

namespace recheck::kernels::transpose {

void memcpy(const TransposeArgs& args, cudaStream_t stream) {
  if (args.rows == 0 || args.columns == 0) return;
  const auto bytes = [](std::int64_t floats) {
    return static_cast<std::size_t>(floats) * sizeof(float);
  };
  if (args.ldin == args.columns && args.ldout == args.columns)
    cudaMemcpyAsync(args.out, args.in, bytes(std::int64_t{args.rows} * args.columns),
                    cudaMemcpyDeviceToDevice, stream);
  else
    cudaMemcpy2DAsync(args.out, bytes(args.ldout), args.in, bytes(args.ldin), bytes(args.columns),
                      args.rows, cudaMemcpyDeviceToDevice, stream);
}

}  // namespace recheck::kernels::transpose
