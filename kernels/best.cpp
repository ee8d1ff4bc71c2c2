// SPDX-License-Identifier: Apache-2.0
#include "best.hpp"

#include "code.hpp"
#include "launch.hpp"

namespace recheck::kernels {

GpuModel current_gpu() {
  int device = 0, major = 0, minor = 0;
  // attributes are cached by the runtime: tens of nanoseconds each, unlike cudaGetDeviceProperties
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  const int capability = 10 * major + minor;
  return {capability, multiprocessors(), code_here(capability)};
}

}  // namespace recheck::kernels
