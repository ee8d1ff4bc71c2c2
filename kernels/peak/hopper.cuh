// SPDX-License-Identifier: Apache-2.0
#pragma once

// Instructions of Hopper, each in one device function: mbarriers, TMA (bulk copies by the async
// proxy), wgmma, setmaxnreg and griddepcontrol. A function is named after its PTX instruction, with
// underscores, as in libcu++ (cuda::ptx, and cuda::device::experimental for the direction of a bulk
// copy), and takes the operands in PTX's order. CUTLASS's name is given where it differs. Below
// sm_90 the bodies are empty, and kernels that need them do not run; griddepcontrol is needed only
// after launch_behind(). wgmma and setmaxnreg need sm_90a. Source: PTX ISA, under the instructions'
// names.

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
#ifdef RECHECK_HOPPER
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// As fence_proxy_async, but for accesses to global memory. After a wait on an mbarrier, it also
/// covers the accesses of the threads that arrived there.
__device__ inline void fence_proxy_async_global() {
#ifdef RECHECK_HOPPER
  asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
}

/// Each phase of the mbarrier completes after `count` arrivals, and once the bytes of all its
/// expect_tx have been transferred.
__device__ inline void mbarrier_init([[maybe_unused]] Mbarrier* barrier,
                                     [[maybe_unused]] unsigned count) {
#ifdef RECHECK_HOPPER
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
#endif
}

/// Makes mbarrier_init visible to the async proxy. The block's other threads also need a
/// __syncthreads(). CUTLASS: fence_barrier_init.
__device__ inline void fence_mbarrier_init() {
#ifdef RECHECK_HOPPER
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  fence_proxy_async();
}

__device__ inline void mbarrier_arrive([[maybe_unused]] Mbarrier* barrier) {
#ifdef RECHECK_HOPPER
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
#endif
}

/// Adds `bytes` to the transfers that the current phase expects, and arrives.
__device__ inline void mbarrier_arrive_expect_tx([[maybe_unused]] Mbarrier* barrier,
                                                 [[maybe_unused]] unsigned bytes) {
#ifdef RECHECK_HOPPER
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
#endif
}

/// Waits for the phase with that parity to complete: mbarrier.try_wait.parity in a loop.
__device__ inline void mbarrier_wait_parity([[maybe_unused]] Mbarrier* barrier,
                                            [[maybe_unused]] unsigned parity) {
#ifdef RECHECK_HOPPER
  unsigned done = 0;
  while (!done)
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
#endif
}

/// CUTLASS: prefetch_tma_descriptor.
__device__ inline void prefetch_tensormap([[maybe_unused]] const CUtensorMap* map) {
#ifdef RECHECK_HOPPER
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

/// TMA load: starts the copy of one box of a tensor at (x, y, z), where x is the contiguous axis.
/// The copy completes its bytes on `barrier`. Elements outside the tensor are filled with zeros.
__device__ inline void cp_async_bulk_tensor_3d_global_to_shared(
    [[maybe_unused]] void* to, [[maybe_unused]] const CUtensorMap* map, [[maybe_unused]] int x,
    [[maybe_unused]] int y, [[maybe_unused]] int z, [[maybe_unused]] Mbarrier* barrier) {
#ifdef RECHECK_HOPPER
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
#endif
}

/// Starts the copy of `bytes` contiguous bytes, which completes them on `barrier`. The size and
/// both addresses are multiples of 16.
__device__ inline void cp_async_bulk_global_to_shared([[maybe_unused]] void* to,
                                                      [[maybe_unused]] const void* from,
                                                      [[maybe_unused]] unsigned bytes,
                                                      [[maybe_unused]] Mbarrier* barrier) {
#ifdef RECHECK_HOPPER
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
#endif
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

/// The swizzling mode of a tile in shared memory: rows of that many bytes, their 16-byte chunks
/// permuted so that eight rows fill all banks. The values are the matrix descriptor's.
enum class Swizzle : unsigned { bytes128 = 1, bytes64 = 2 };

/// wgmma's matrix descriptor of an operand in shared memory. The stride byte offset is the distance
/// from one group of eight rows to the next. If an operand's rows run along m or n, the leading
/// byte offset is the distance from the end of a row to the next piece of that axis.
__device__ inline std::uint64_t matrix_descriptor(std::uint32_t start, unsigned leading_byte_offset,
                                                  unsigned stride_byte_offset, Swizzle swizzle) {
  return static_cast<std::uint64_t>((start & 0x3ffff) >> 4) |
         static_cast<std::uint64_t>(leading_byte_offset >> 4) << 16 |
         static_cast<std::uint64_t>(stride_byte_offset >> 4) << 32 |
         static_cast<std::uint64_t>(swizzle) << 62;
}

/// Needed before the first wgmma_mma_async, and again after this warpgroup's own accesses to the
/// accumulators. CUTLASS: warpgroup_arrive.
__device__ inline void wgmma_fence() {
#ifdef RECHECK_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
/// CUTLASS: warpgroup_commit_batch.
__device__ inline void wgmma_commit_group() {
#ifdef RECHECK_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Waits until all but the latest `pending` groups have completed. CUTLASS: warpgroup_wait.
template <int pending>
__device__ void wgmma_wait_group() {
#ifdef RECHECK_WGMMA
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#endif
}
/// Not an instruction: keeps the compiler from moving accesses to the accumulators across this
/// line. The name is CUTLASS's.
template <int count>
__device__ void warpgroup_fence_operand(float (&values)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

enum class Type { f16, bf16, tf32 };

#ifdef RECHECK_WGMMA
// clang-format off
#define RECHECK_FLOATS8(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
  "+f"(d[i + 6]), "+f"(d[i + 7])
#define RECHECK_FLOATS32(i) \
  RECHECK_FLOATS8(i), RECHECK_FLOATS8(i + 8), RECHECK_FLOATS8(i + 16), RECHECK_FLOATS8(i + 24)
#define RECHECK_FLOATS64 RECHECK_FLOATS32(0), RECHECK_FLOATS32(32)
#define RECHECK_FLOATS96 RECHECK_FLOATS64, RECHECK_FLOATS32(64)
#define RECHECK_OPERANDS32 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define RECHECK_OPERANDS64 RECHECK_OPERANDS32 ", " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define RECHECK_OPERANDS96 RECHECK_OPERANDS64 ", " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
// `values`, `floats`: n columns of D, as PTX names them and as constraints; a_at, b_at, scale_at:
// the operands after D; `shape`: .k and the types; `tail`: for 16-bit types imm-trans-a and
// imm-trans-b, which tell whose rows run along m or n (B's)
#define RECHECK_WGMMA_OF(n, values, a_at, b_at, scale_at, floats, shape, tail) \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " scale_at ", 0;\n" \
  "wgmma.mma_async.sync.aligned.m64n" n shape " {" values "}, " a_at ", " b_at ", p, 1, 1" tail \
  ";\n}" : floats : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)))
#define RECHECK_WGMMA_N64(shape, tail) RECHECK_WGMMA_OF( \
  "64", RECHECK_OPERANDS32, "%32", "%33", "%34", RECHECK_FLOATS32(0), shape, tail)
#define RECHECK_WGMMA_N128(shape, tail) RECHECK_WGMMA_OF( \
  "128", RECHECK_OPERANDS64, "%64", "%65", "%66", RECHECK_FLOATS64, shape, tail)
#define RECHECK_WGMMA_N192(shape, tail) RECHECK_WGMMA_OF( \
  "192", RECHECK_OPERANDS96, "%96", "%97", "%98", RECHECK_FLOATS96, shape, tail)
// clang-format on
#endif

/// D (64×n, fp32) = A·B, plus D if `accumulate` (scale-d), over 32 bytes along k. `a` and `b` are
/// matrix descriptors. A's rows run along k; B's along n for the 16-bit types and along k for tf32,
/// which has no other form. A thread holds of D: d[4j] and d[4j + 1] in row lane / 4 of its warp's
/// 16, columns 8j + 2 (lane % 4) and the next; d[4j + 2] and d[4j + 3] eight rows below.
template <Type type, int n>
__device__ __forceinline__ void wgmma_mma_async([[maybe_unused]] float (&d)[n / 2],
                                                [[maybe_unused]] std::uint64_t a,
                                                [[maybe_unused]] std::uint64_t b,
                                                [[maybe_unused]] bool accumulate) {
  static_assert(n == 64 || n == 128 || n == 192);
#ifdef RECHECK_WGMMA
  if constexpr (n == 64) {
    if constexpr (type == Type::f16)
      RECHECK_WGMMA_N64("k16.f32.f16.f16", ", 0, 1");
    else if constexpr (type == Type::bf16)
      RECHECK_WGMMA_N64("k16.f32.bf16.bf16", ", 0, 1");
    else
      RECHECK_WGMMA_N64("k8.f32.tf32.tf32", "");
  } else if constexpr (n == 128) {
    if constexpr (type == Type::f16)
      RECHECK_WGMMA_N128("k16.f32.f16.f16", ", 0, 1");
    else if constexpr (type == Type::bf16)
      RECHECK_WGMMA_N128("k16.f32.bf16.bf16", ", 0, 1");
    else
      RECHECK_WGMMA_N128("k8.f32.tf32.tf32", "");
  } else {
    if constexpr (type == Type::f16)
      RECHECK_WGMMA_N192("k16.f32.f16.f16", ", 0, 1");
    else if constexpr (type == Type::bf16)
      RECHECK_WGMMA_N192("k16.f32.bf16.bf16", ", 0, 1");
    else
      RECHECK_WGMMA_N192("k8.f32.tf32.tf32", "");
  }
#endif
}

#undef RECHECK_FLOATS8
#undef RECHECK_FLOATS32
#undef RECHECK_FLOATS64
#undef RECHECK_FLOATS96
#undef RECHECK_OPERANDS32
#undef RECHECK_OPERANDS64
#undef RECHECK_OPERANDS96
#undef RECHECK_WGMMA_OF
#undef RECHECK_WGMMA_N64
#undef RECHECK_WGMMA_N128
#undef RECHECK_WGMMA_N192

}  // namespace recheck::kernels::hopper
