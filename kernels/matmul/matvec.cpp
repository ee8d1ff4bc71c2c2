// SPDX-License-Identifier: Apache-2.0
//
// A product with one row or one column, of which tiles of C would be nearly empty, as the
// matrix-vector product that it is: A·b of a matrix stored by rows, and a·B, which is Bᵀ·a, of one
// stored by columns.

#include "../matvec/matvec.hpp"

#include "matmul.hpp"

namespace recheck::kernels::matmul {

void matvec(const MatmulArgs& args, const Queue& queue) {
  constexpr std::int64_t word = sizeof(float);
  if (is_matvec_by_rows(args))
    kernels::matvec::best(by_rows(args), queue);
  else
    kernels::matvec::best_column_major({args.n, args.k, args.b, args.ldb * word, args.a, args.c},
                                       queue);
}

}  // namespace recheck::kernels::matmul
