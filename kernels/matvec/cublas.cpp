// SPDX-License-Identifier: Apache-2.0
//
// cuBLAS's matrix–vector product, for both storage orders. cuBLAS is column-major and sees a matrix
// stored by rows as its transpose, so the product transposes it again (OP_T).

#include "../cublas.hpp"

#include <type_traits>

#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

void gemv(const MatvecArgs& p, const Queue& queue, cublasOperation_t operation) {
  if (p.rows == 0) return;
  if (p.columns == 0) {
    // BLAS returns at once when either extent is 0 and leaves r unchanged
    cudaMemsetAsync(p.r, 0, p.rows * sizeof(float), queue.stream);
    return;
  }
  const float one = 1, zero = 0;
  const bool by_rows = operation == CUBLAS_OP_T;
  const std::int64_t ld = p.pitch / static_cast<std::int64_t>(sizeof(float));
  call_cublas("cublasSgemv", {ld}, [&](auto integer) {
    using Int = decltype(integer);
    const auto call = [](auto... all) {
      if constexpr (std::is_same_v<Int, int>)
        return cublasSgemv(all...);
      else
        return cublasSgemv_64(all...);
    };
    return call(queue.blas, operation, by_rows ? p.columns : p.rows, by_rows ? p.rows : p.columns,
                &one, p.a, static_cast<Int>(ld), p.v, 1, &zero, p.r, 1);
  });
}

}  // namespace

void cublas(const MatvecArgs& args, const Queue& queue) { gemv(args, queue, CUBLAS_OP_T); }

void cublas_column_major(const MatvecArgs& args, const Queue& queue) {
  gemv(args, queue, CUBLAS_OP_N);
}

}  // namespace recheck::kernels::matvec
