// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hopper's own instructions, each behind one named device function: barriers in shared memory that
// count bytes, the copy engine that fills tiles from a tensor map (TMA), the matrix product of a
// warpgroup (wgmma), and registers that move from one warpgroup to another. Names and operands are
// those of the PTX ISA (sections 9.7.13, 9.7.9.27 and 9.7.15). Below sm_90 the bodies are empty,
// and the rows that launch them are not run there; wgmma and setmaxnreg need sm_90a.

#include <cuda.h>  // for CUtensorMap alone; nothing of libcuda is linked

#include <cstdint>

namespace recheck::kernels::hopper {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define RECHECK_HOPPER
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define RECHECK_WGMMA
#endif

using Barrier = std::uint64_t;  // an mbarrier, in shared memory

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Has the copy engine see what this thread has written to shared memory, and write there only
/// behind what this thread has read: a barrier alone orders neither.
__device__ inline void engine_sees() {
#ifdef RECHECK_HOPPER
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// A barrier whose phases end after `arrivals` arrivals and all bytes that were announced.
__device__ inline void barrier_init([[maybe_unused]] Barrier* barrier,
                                    [[maybe_unused]] unsigned arrivals) {
#ifdef RECHECK_HOPPER
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
#endif
}

/// Makes initialised barriers visible to the copy engine; a __syncthreads() follows.
__device__ inline void barrier_init_done() {
#ifdef RECHECK_HOPPER
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  engine_sees();
}

__device__ inline void barrier_arrive([[maybe_unused]] Barrier* barrier) {
#ifdef RECHECK_HOPPER
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
#endif
}

/// Arrives, and announces bytes that the copy engine will bring.
__device__ inline void barrier_expect([[maybe_unused]] Barrier* barrier,
                                      [[maybe_unused]] unsigned bytes) {
#ifdef RECHECK_HOPPER
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
#endif
}

/// Returns once the phase of that parity has ended.
__device__ inline void barrier_wait([[maybe_unused]] Barrier* barrier,
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

/// Has the copy engine read a tensor map before its first use.
__device__ inline void prefetch_map([[maybe_unused]] const CUtensorMap* map) {
#ifdef RECHECK_HOPPER
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
#endif
}

/// Asks the copy engine for one box of a tensor at (x, y, z), x the contiguous axis. What lies
/// outside the tensor arrives as zeros.
__device__ inline void load_box([[maybe_unused]] void* to, [[maybe_unused]] const CUtensorMap* map,
                                [[maybe_unused]] Barrier* barrier, [[maybe_unused]] int x,
                                [[maybe_unused]] int y, [[maybe_unused]] int z) {
#ifdef RECHECK_HOPPER
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
#endif
}

/// Has the copy engine write one box to a tensor, from shared memory that it sees (engine_sees).
/// What lies outside the tensor stays, but for the rest of the 16 bytes in which a row ends. The
/// stores of a thread between two commits are a group.
__device__ inline void store_box([[maybe_unused]] const CUtensorMap* map,
                                 [[maybe_unused]] const void* from, [[maybe_unused]] int x,
                                 [[maybe_unused]] int y, [[maybe_unused]] int z) {
#ifdef RECHECK_HOPPER
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map),
      "r"(x), "r"(y), "r"(z), "r"(shared_address(from))
      : "memory");
#endif
}
__device__ inline void commit_stores() {
#ifdef RECHECK_HOPPER
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}
/// Returns once all but the last `pending` groups have read their shared memory.
template <int pending>
__device__ void wait_for_stores_to_read() {
#ifdef RECHECK_HOPPER
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
#endif
}

/// Asks the copy engine for `bytes` in one piece; that and both addresses are multiples of 16.
__device__ inline void load_bytes([[maybe_unused]] void* to, [[maybe_unused]] const void* from,
                                  [[maybe_unused]] unsigned bytes,
                                  [[maybe_unused]] Barrier* barrier) {
#ifdef RECHECK_HOPPER
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
#endif
}

/// Lets the next kernel of the stream start where this one leaves room; it waits below for this one
/// to end. Only if launched so (cudaLaunchAttributeProgrammaticStreamSerialization).
__device__ inline void let_next_start() {
#ifdef RECHECK_HOPPER
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ inline void wait_for_previous() {
#ifdef RECHECK_HOPPER
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The barriers that a block's warps share by number: wait for `threads` threads in all, or only
/// count among them.
__device__ inline void named_wait(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ inline void named_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// A warpgroup gives registers back, or takes them, until each thread has `count`.
template <int count>
__device__ void release_registers() {
#ifdef RECHECK_WGMMA
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
#endif
}
template <int count>
__device__ void take_registers() {
#ifdef RECHECK_WGMMA
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
#endif
}

/// How a tile lies in shared memory: rows of that many bytes, their 16-byte pieces permuted so that
/// eight rows fill all banks. The values are the descriptor's.
enum class Swizzle : unsigned { bytes128 = 1, bytes64 = 2 };

/// What tells wgmma where an operand is: the address, the stride between groups of eight rows, and,
/// where rows run along m or n, the stride from one row's end to the next piece of that axis.
__device__ inline std::uint64_t descriptor(std::uint32_t address, unsigned piece_stride,
                                           unsigned group_stride, Swizzle swizzle) {
  return static_cast<std::uint64_t>((address & 0x3ffff) >> 4) |
         static_cast<std::uint64_t>(piece_stride >> 4) << 16 |
         static_cast<std::uint64_t>(group_stride >> 4) << 32 |
         static_cast<std::uint64_t>(swizzle) << 62;
}

/// Before a warpgroup's first product, and whenever it has touched the accumulators itself.
__device__ inline void wgmma_fence() {
#ifdef RECHECK_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ inline void wgmma_commit() {
#ifdef RECHECK_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Returns once at most `pending` committed groups are still running.
template <int pending>
__device__ void wgmma_wait() {
#ifdef RECHECK_WGMMA
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#endif
}
/// Keeps the compiler from moving uses of the accumulators across this line.
template <int count>
__device__ void pin(float (&values)[count]) {
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
// n columns, whose values are the operands before a, b and scale-d; `shape` ends in the types,
// `tail` holds the flags behind scale-d: signs, and for 16-bit types which operands have rows along
// m or n (B here)
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

/// D (64×n, fp32) = A·B, plus D if `accumulate`: one step of 32 bytes along k. A's rows run along
/// k; B's along n for the 16-bit types and along k for tf32, which knows no other form. The
/// thread's values of D: (4j, 4j + 1) in row lane / 4 of its warp's 16, columns 8j + 2 (lane % 4)
/// and the next; (4j + 2, 4j + 3) eight rows below.
template <Type type, int n>
__device__ __forceinline__ void wgmma([[maybe_unused]] float (&d)[n / 2],
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
