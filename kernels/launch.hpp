// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace recheck::kernels {

/// Whether a kernel may be launched with that many bytes of dynamic shared memory on the current
/// device; more than 48 KB, static arrays included, must be requested. If not, do not launch the
/// kernel. The error stays for the caller's cudaGetLastError.
template <typename... Args>
bool allow_shared(void (*kernel)(Args...), std::int64_t bytes) {
  if (bytes <= 40 * 1024) return true;
  constexpr std::int64_t most = std::numeric_limits<int>::max();  // more than any device has
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(std::min(bytes, most))) == cudaSuccess;
}

/// How a kernel starts, beyond its grid.
struct Start {
  bool behind = false;  // overlaps the end of the stream's previous kernel (launch_behind)
  int cluster = 1;      // so many neighbouring blocks along x form a cluster
};

/// Starts a kernel with `shared` bytes of dynamic shared memory. The error stays for the caller's
/// cudaGetLastError.
template <typename... Args>
void launch_with(const Start& start, void (*kernel)(Args...), dim3 grid, int block, int shared,
                 cudaStream_t stream, const std::type_identity_t<Args>&... args) {
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(block));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared);
  config.stream = stream;
  config.attrs = attributes;
  if (start.behind) {
    auto& overlap = attributes[config.numAttrs++];
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
  }
  if (start.cluster > 1) {
    auto& shape = attributes[config.numAttrs++];
    shape.id = cudaLaunchAttributeClusterDimension;
    shape.val.clusterDim.x = static_cast<unsigned>(start.cluster);
    shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  }
  cudaLaunchKernelEx(&config, kernel, args...);
}

/// Starts a kernel whose launch overlaps the end of the previous kernel in the stream (programmatic
/// dependent launch). Every block calls hopper::griddepcontrol_wait() before it touches what that
/// kernel writes, so that later kernels may rely on both.
template <typename... Args>
void launch_behind(void (*kernel)(Args...), unsigned blocks, int threads, int shared,
                   cudaStream_t stream, const std::type_identity_t<Args>&... args) {
  launch_with({.behind = true}, kernel, dim3(blocks), threads, shared, stream, args...);
}

/// Starts a kernel in clusters of `cluster` neighbouring blocks along x.
template <typename... Args>
void launch_clusters(int cluster, void (*kernel)(Args...), dim3 grid, int block, int shared,
                     cudaStream_t stream, const std::type_identity_t<Args>&... args) {
  if (cluster > 8 &&  // more than every chip with clusters has
      cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) !=
          cudaSuccess)
    return;  // the error stays for the caller's cudaGetLastError
  launch_with({.cluster = cluster}, kernel, grid, block, shared, stream, args...);
}

/// Multiprocessors of the current device; 1 without a device.
inline int multiprocessors() {
  int device = 0, count = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

/// Compute capability of the current device, 90 for 9.0; 0 without a device.
inline int compute_capability() {
  int device = 0, major = 0, minor = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  return 10 * major + minor;
}

}  // namespace recheck::kernels
