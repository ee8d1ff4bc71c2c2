// SPDX-License-Identifier: Apache-2.0
#pragma once

// wgmma, Hopper's matrix multiplication by a warpgroup, with its descriptors and fences. Names and
// sources are as in hopper.cuh. It needs sm_90a, so kernels call it under RECHECK_WGMMA only.

#include "hopper.cuh"

namespace recheck::kernels::hopper {

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
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// CUTLASS: warpgroup_commit_batch.
__device__ inline void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until all but the latest `pending` groups have completed. CUTLASS: warpgroup_wait.
template <int pending>
__device__ void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
/// Not an instruction: keeps the compiler from moving accesses to the accumulators across this
/// line. The name is CUTLASS's.
template <int count>
__device__ void warpgroup_fence_operand(float (&values)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

enum class Type { f16, bf16, tf32 };

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
#define RECHECK_WGMMA_TYPES(wgmma) { \
  if constexpr (type == Type::f16) wgmma("k16.f32.f16.f16", ", 0, 1"); \
  else if constexpr (type == Type::bf16) wgmma("k16.f32.bf16.bf16", ", 0, 1"); \
  else wgmma("k8.f32.tf32.tf32", ""); }
// clang-format on

/// D (64×n, fp32) = A·B, plus D if `accumulate` (scale-d), over 32 bytes along k. `a` and `b` are
/// matrix descriptors. A's rows run along k; B's along n for the 16-bit types and along k for tf32,
/// which has no other form. A thread holds of D: d[4j] and d[4j + 1] in row lane / 4 of its warp's
/// 16, columns 8j + 2 (lane % 4) and the next; d[4j + 2] and d[4j + 3] eight rows below.
template <Type type, int n>
__device__ __forceinline__ void wgmma_mma_async(float (&d)[n / 2], std::uint64_t a, std::uint64_t b,
                                                bool accumulate) {
  static_assert(n == 64 || n == 128 || n == 192);
  if constexpr (n == 64)
    RECHECK_WGMMA_TYPES(RECHECK_WGMMA_N64)
  else if constexpr (n == 128)
    RECHECK_WGMMA_TYPES(RECHECK_WGMMA_N128)
  else
    RECHECK_WGMMA_TYPES(RECHECK_WGMMA_N192)
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
#undef RECHECK_WGMMA_TYPES

}  // namespace recheck::kernels::hopper
