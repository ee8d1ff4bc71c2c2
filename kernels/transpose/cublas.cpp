// SPDX-License-Identifier: Apache-2.0
//
// cuBLAS's transposition: geam, out = 1 · inᵀ + 0 · (nothing). Column-major cuBLAS sees the
// transposes of row-major matrices, which is the same problem.

#include "../cublas.hpp"

#include <type_traits>

#include "transpose.hpp"

namespace recheck::kernels::transpose {

void cublas(const TransposeArgs& args, const Queue& queue) {
  if (args.rows == 0 || args.columns == 0) return;
  const float one = 1, zero = 0;
  call_cublas("cublasSgeam", {args.ldin, args.ldout}, [&](auto integer) {
    using Int = decltype(integer);
    const auto call = [](auto... all) {
      if constexpr (std::is_same_v<Int, int>)
        return cublasSgeam(all...);
      else
        return cublasSgeam_64(all...);
    };
    return call(queue.blas, CUBLAS_OP_T, CUBLAS_OP_N, args.rows, args.columns, &one, args.in,
                static_cast<Int>(args.ldin), &zero, args.out, static_cast<Int>(args.ldout),
                args.out, static_cast<Int>(args.ldout));
  });
}

}  // namespace recheck::kernels::transpose
