// SPDX-License-Identifier: Apache-2.0
#pragma once

// Blocks of a cluster that add up in each other's shared memory. Compute capability 9.0 and later;
// elsewhere the clusters have one block.

#include "launch.hpp"

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

#if __CUDA_ARCH__ >= 900
/// Where block `rank` of the cluster has what this one has at `at`.
__device__ inline unsigned address_at(const float* at, unsigned rank) {
  const auto here = static_cast<unsigned>(__cvta_generic_to_shared(at));
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  return there;
}
#endif

/// Stores x where block `rank` of the cluster has `at`.
__device__ inline void store_at(float* at, unsigned rank, float x) {
#if __CUDA_ARCH__ >= 900
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address_at(at, rank)), "f"(x) : "memory");
#else
  static_cast<void>(rank);
  *at = x;
#endif
}

/// The four words that block `rank` of the cluster has at `at`, which starts on 16 bytes.
__device__ inline float4 load_at(const float* at, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  float4 words;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(words.x), "=f"(words.y), "=f"(words.z), "=f"(words.w)
               : "r"(address_at(at, rank))
               : "memory");
  return words;
#else
  static_cast<void>(rank);
  return *reinterpret_cast<const float4*>(at);
#endif
}

}  // namespace recheck::kernels
