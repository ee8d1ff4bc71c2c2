// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asynchronous copies of a few words from global to shared memory: PTX instructions, named after
// them as in hopper.cuh. They need compute capability 8.0; below it they do nothing.

#include <cuda_runtime.h>

namespace recheck::kernels {

/// Starts a copy of `bytes`, 4 or 16, from global to shared memory, or of zeros unless `inside`.
/// `to` is an address from cvta.
template <int bytes>
__device__ __forceinline__ void cp_async([[maybe_unused]] unsigned to,
                                         [[maybe_unused]] const float* from,
                                         [[maybe_unused]] bool inside = true) {
#if __CUDA_ARCH__ >= 800
  const int available = inside ? bytes : 0;
  if constexpr (bytes == 16)  // past L1
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(available)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(available)
                 : "memory");
#endif
}
template <int bytes>
__device__ __forceinline__ void cp_async(float* to, const float* from, bool inside = true) {
  cp_async<bytes>(static_cast<unsigned>(__cvta_generic_to_shared(to)), from, inside);
}

/// Commits this thread's copies since the previous group as one group.
__device__ __forceinline__ void cp_async_commit_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits until all but the latest `pending` of this thread's groups have completed.
template <int pending>
__device__ __forceinline__ void cp_async_wait_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

}  // namespace recheck::kernels
