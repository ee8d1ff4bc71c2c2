// SPDX-License-Identifier: Apache-2.0
#pragma once

// Thread block clusters and distributed shared memory: PTX instructions and a special register,
// named after them as in hopper.cuh. Before compute capability 9.0 clusters have one block.

#include "../launch.hpp"

namespace recheck::kernels {

/// This block's rank in its cluster.
__device__ inline unsigned cluster_ctarank() {
#if __CUDA_ARCH__ >= 900
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  return 0;
#endif
}

/// Releases this thread's writes to all threads of the cluster that wait afterwards.
__device__ inline void barrier_cluster_arrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
#endif
}

/// Waits until all threads of the cluster have arrived, and acquires their writes.
__device__ inline void barrier_cluster_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

#if __CUDA_ARCH__ >= 900
/// The shared::cluster address, in block `rank`, of the variable that this block has at `at`.
__device__ inline unsigned mapa(const float* at, unsigned rank) {
  const auto here = static_cast<unsigned>(__cvta_generic_to_shared(at));
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  return there;
}
#endif

/// Stores x at `at` in the shared memory of block `rank`.
__device__ inline void st_shared_cluster(float* at, unsigned rank, float x) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(mapa(at, rank)), "f"(x) : "memory");
#else
  static_cast<void>(rank);
  *at = x;
#endif
}

/// Loads four words at `at` in the shared memory of block `rank`, or one; `at` is a multiple of
/// their size.
__device__ inline float4 ld_shared_cluster(const float4* at, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  float4 words;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(words.x), "=f"(words.y), "=f"(words.z), "=f"(words.w)
               : "r"(mapa(reinterpret_cast<const float*>(at), rank))
               : "memory");
  return words;
#else
  static_cast<void>(rank);
  return *at;
#endif
}
__device__ inline float ld_shared_cluster(const float* at, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  float word;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(word) : "r"(mapa(at, rank)) : "memory");
  return word;
#else
  static_cast<void>(rank);
  return *at;
#endif
}

}  // namespace recheck::kernels
