// SPDX-License-Identifier: Apache-2.0
//
// The vendor's matrix product, twice: in pedantic fp32, the baseline that every rung is compared
// with, and with TF32 tensor cores, which is another problem (10 bits of mantissa) and labelled so.
// cuBLAS is column-major; a row-major C = A·B is its transpose, Cᵀ = Bᵀ·Aᵀ, so the operands swap.

#include "../cublas.hpp"

#include <algorithm>
#include <type_traits>

#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

void gemm(const MatmulArgs& p, const Queue& queue, cublasComputeType_t compute) {
  if (p.m == 0 || p.n == 0) return;
  const float one = 1, zero = 0;
  // of a matrix without columns cuBLAS wants a leading dimension all the same
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
                CUDA_R_32F, static_cast<Int>(p.ldc), compute, CUBLAS_GEMM_DEFAULT);
  });
}

}  // namespace

void cublas(const MatmulArgs& args, const Queue& queue) {
  gemm(args, queue, CUBLAS_COMPUTE_32F_PEDANTIC);
}

void cublas_tf32(const MatmulArgs& args, const Queue& queue) {
  gemm(args, queue, CUBLAS_COMPUTE_32F_FAST_TF32);
}

}  // namespace recheck::kernels::matmul
