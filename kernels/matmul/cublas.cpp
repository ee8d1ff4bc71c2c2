// SPDX-License-Identifier: Apache-2.0
//
// cuBLAS's matrix product: in pedantic fp32, the baseline for every kernel; in pedantic fp32 by the
// fastest algorithm that cuBLAS finds when it times its own; and with TF32 tensor cores, which is a
// different problem (10 bits of mantissa) and labelled so. cuBLAS is column-major; a row-major C =
// A·B is its transpose, Cᵀ = Bᵀ·Aᵀ, so the operands swap.

#include "../cublas.hpp"

#include <algorithm>
#include <type_traits>

#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

// a handle's first call at a shape times the algorithms, and later calls take the fastest
#if CUBLAS_VERSION >= 130000
constexpr bool can_autotune = true;
constexpr cublasGemmAlgo_t autotune = CUBLAS_GEMM_AUTOTUNE;
#else
constexpr bool can_autotune = false;
constexpr cublasGemmAlgo_t autotune = CUBLAS_GEMM_DEFAULT;
#endif

void gemm(const MatmulArgs& p, const Queue& queue, cublasComputeType_t compute,
          cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT) {
  if (p.m == 0 || p.n == 0) return;
  const float one = 1, zero = 0;
  // cuBLAS requires a positive leading dimension even for a matrix without columns
  const std::int64_t lda = std::max<std::int64_t>(1, p.lda);
  call_cublas("cublasGemmEx", {lda, p.ldb, p.ldc}, [&](auto integer) {
    using Int = decltype(integer);
    const auto call = [](auto... all) {
      if constexpr (std::is_same_v<Int, int>)
        return cublasGemmEx(all...);
      else
        return cublasGemmEx_64(all...);
    };
    return call(queue.blas, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.b, CUDA_R_32F,
                static_cast<Int>(p.ldb), p.a, CUDA_R_32F, static_cast<Int>(lda), &zero, p.c,
                CUDA_R_32F, static_cast<Int>(p.ldc), compute, algorithm);
  });
}

}  // namespace

void cublas(const MatmulArgs& args, const Queue& queue) {
  gemm(args, queue, CUBLAS_COMPUTE_32F_PEDANTIC);
}

bool cublas_can_autotune() { return can_autotune; }

void cublas_autotuned(const MatmulArgs& args, const Queue& queue) {
  gemm(args, queue, CUBLAS_COMPUTE_32F_PEDANTIC, autotune);
}

void cublas_tf32(const MatmulArgs& args, const Queue& queue) {
  gemm(args, queue, CUBLAS_COMPUTE_32F_FAST_TF32);
}

}  // namespace recheck::kernels::matmul
