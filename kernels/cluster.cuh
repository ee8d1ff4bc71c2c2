// SPDX-License-Identifier: Apache-2.0
#pragma once

// Blocks of a cluster that add up in each other's shared memory. Compute capability 9.0 and later;
// elsewhere the clusters have one block.

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

namespace recheck::kernels {

__device__ inline unsigned cluster_rank() {
#if __CUDA_ARCH__ >= 900
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  return 0;
#endif
}

/// What this thread wrote is seen behind the wait of every thread of the cluster.
__device__ inline void cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}

__device__ inline void cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

/// Stores x where block `rank` of the cluster has `at`.
__device__ inline void store_at(float* at, unsigned rank, float x) {
#if __CUDA_ARCH__ >= 900
  const auto here = static_cast<unsigned>(__cvta_generic_to_shared(at));
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(x) : "memory");
#else
  static_cast<void>(rank);
  *at = x;
#endif
}

/// The four words that block `rank` of the cluster has at `at`, which starts on 16 bytes.
__device__ inline float4 load_at(const float* at, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  const auto here = static_cast<unsigned>(__cvta_generic_to_shared(at));
  unsigned there;
  float4 words;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(words.x), "=f"(words.y), "=f"(words.z), "=f"(words.w)
               : "r"(there)
               : "memory");
  return words;
#else
  static_cast<void>(rank);
  return *reinterpret_cast<const float4*>(at);
#endif
}

/// Launches a kernel in clusters of `cluster` neighbours along x, with `shared` bytes of dynamic
/// shared memory.
template <int cluster, typename... Args>
void launch_clusters(void (*kernel)(Args...), dim3 grid, int block, int shared, cudaStream_t stream,
                     const std::type_identity_t<Args>&... args) {
  cudaLaunchAttribute shape = {};
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = cluster;
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(block));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared);
  config.stream = stream;
  config.attrs = &shape;
  config.numAttrs = cluster > 1 ? 1 : 0;
  if (cluster > 8)  // more than every chip with clusters has
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaLaunchKernelEx(&config, kernel, args...);
}

}  // namespace recheck::kernels
