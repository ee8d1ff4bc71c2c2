// SPDX-License-Identifier: Apache-2.0
//
// The driver's own copy within device memory: the ceiling of every kernel that reads a matrix once
// and writes it once.

#include <cuda_runtime.h>

#include <algorithm>

#include "transpose.hpp"

namespace recheck::kernels::transpose {

void memcpy(const TransposeArgs& args, cudaStream_t stream) {
  if (args.rows == 0 || args.columns == 0) return;
  const auto bytes = [](std::int64_t floats) {
    return static_cast<std::size_t>(floats) * sizeof(float);
  };
  constexpr std::int64_t most_pitch = 0x7fffffff;  // the most bytes that cudaMemcpy2D takes
  const bool far = std::max(bytes(args.ldin), bytes(args.ldout)) > most_pitch;
  if (args.ldin == args.columns && args.ldout == args.columns)
    cudaMemcpyAsync(args.out, args.in, bytes(std::int64_t{args.rows} * args.columns),
                    cudaMemcpyDeviceToDevice, stream);
  else if (far)
    for (std::int64_t i = 0; i < args.rows; ++i)
      cudaMemcpyAsync(args.out + i * args.ldout, args.in + i * args.ldin, bytes(args.columns),
                      cudaMemcpyDeviceToDevice, stream);
  else
    cudaMemcpy2DAsync(args.out, bytes(args.ldout), args.in, bytes(args.ldin), bytes(args.columns),
                      args.rows, cudaMemcpyDeviceToDevice, stream);
}

}  // namespace recheck::kernels::transpose
