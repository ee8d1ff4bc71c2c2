// SPDX-License-Identifier: Apache-2.0
#pragma once

// Instructions of Hopper, each in one device function: mbarriers, TMA (bulk copies by the async
// proxy), named barriers, setmaxnreg and griddepcontrol; wgmma.cuh has wgmma. A function is named
// after its PTX instruction, with underscores, as in libcu++ (cuda::ptx, and
// cuda::device::experimental for the direction of a bulk copy), and takes the operands in PTX's
// order. CUTLASS's name is given where it differs. Kernels call them under RECHECK_HOPPER only.
// Elsewhere griddepcontrol does nothing, as it is needed only after launch_behind(); nor does
// setmaxnreg without sm_90a. Source: PTX ISA, under the instructions' names.

#include <cuda.h>  // for CUtensorMap only; nothing of libcuda is linked

#include <cstdint>

namespace recheck::kernels::hopper {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define RECHECK_HOPPER
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define RECHECK_WGMMA
#endif

using Mbarrier = std::uint64_t;  // in shared memory

/// A generic address in the shared state space, as PTX takes it.
__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Orders this thread's accesses to shared memory before those that the async proxy (TMA, wgmma)
/// makes after the next synchronisation. Synchronisation alone does not order the two proxies.
/// CUTLASS: fence_view_async_shared.
__device__ inline void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// As fence_proxy_async, but for accesses to global memory. After a wait on an mbarrier, it also
/// covers the accesses of the threads that arrived there.
__device__ inline void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

/// Each phase of the mbarrier completes after `count` arrivals, and once the bytes of all its
/// expect_tx have been transferred.
__device__ inline void mbarrier_init(Mbarrier* barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
}

/// Makes mbarrier_init visible to the async proxy. The block's other threads also need a
/// __syncthreads(). CUTLASS: fence_barrier_init.
__device__ inline void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  fence_proxy_async();
}

__device__ inline void mbarrier_arrive(Mbarrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// Has `barrier` receive this thread's arrival once all its cp.async so far have completed.
__device__ inline void cp_async_mbarrier_arrive_noinc(Mbarrier* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// Adds `bytes` to the transfers that the current phase expects, and arrives.
__device__ inline void mbarrier_arrive_expect_tx(Mbarrier* barrier, unsigned bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

/// Waits for the phase with that parity to complete: mbarrier.try_wait.parity in a loop.
__device__ inline void mbarrier_wait_parity(Mbarrier* barrier, unsigned parity) {
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
}

/// CUTLASS: prefetch_tma_descriptor.
__device__ inline void prefetch_tensormap(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// TMA load: starts the copy of one box of a tensor at (x, y, z), where x is the contiguous axis.
/// The copy completes its bytes on `barrier`. Elements outside the tensor are filled with zeros.
__device__ inline void cp_async_bulk_tensor_3d_global_to_shared(void* to, const CUtensorMap* map,
                                                                int x, int y, int z,
                                                                Mbarrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}

/// Starts the copy of `bytes` contiguous bytes, which completes them on `barrier`. The size and
/// both addresses are multiples of 16.
__device__ inline void cp_async_bulk_global_to_shared(void* to, const void* from, unsigned bytes,
                                                      Mbarrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

/// Lets the dependent grid start: the next kernel of the stream, if it was launched with
/// cudaLaunchAttributeProgrammaticStreamSerialization. CUTLASS: launch_dependent_grids.
__device__ inline void griddepcontrol_launch_dependents() {
#ifdef RECHECK_HOPPER
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Waits until the prerequisite grid, which is the previous kernel, has completed and its writes
/// are visible. CUTLASS: wait_on_dependent_grids.
__device__ inline void griddepcontrol_wait() {
#ifdef RECHECK_HOPPER
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Named barriers, which complete after `threads` arrivals; barrier 0 is __syncthreads(). bar_sync
/// arrives and waits, bar_arrive does not wait. CUTLASS: NamedBarrier.
__device__ inline void bar_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ inline void bar_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Lowers the registers of each thread of a warpgroup to `count`, or raises them once other
/// warpgroups have released enough. CUTLASS: warpgroup_reg_dealloc, warpgroup_reg_alloc.
template <int count>
__device__ void setmaxnreg_dec() {
#ifdef RECHECK_WGMMA
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
#endif
}
template <int count>
__device__ void setmaxnreg_inc() {
#ifdef RECHECK_WGMMA
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
#endif
}

}  // namespace recheck::kernels::hopper
