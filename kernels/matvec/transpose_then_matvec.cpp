// SPDX-License-Identifier: Apache-2.0
//
// What the fast column-wise product costs a user whose matrix is stored by rows: transpose it into
// scratch memory first, then multiply. S3 says that transposition is slow (C62), but not how many
// products must follow before it pays.

#include "../transpose/transpose.hpp"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

/// Floats from one column to the next in the workspace.
std::int64_t column_floats(const MatvecArgs& p) { return transposed_floats(p.rows, 1); }

}  // namespace

void transpose_then_matvec_transpose(const MatvecArgs& args, const Queue& queue) {
  transpose::no_bank_conflicts({.rows = args.rows,
                                .columns = args.columns,
                                .in = args.a,
                                .ldin = args.pitch / static_cast<std::int64_t>(sizeof(float)),
                                .out = queue.workspace,
                                .ldout = column_floats(args),
                                .repeats = 1},
                               queue.stream);
}

void transpose_then_matvec(const MatvecArgs& args, const Queue& queue) {
  transpose_then_matvec_transpose(args, queue);
  MatvecArgs transposed = args;
  transposed.a = queue.workspace;
  transposed.pitch = column_floats(args) * static_cast<std::int64_t>(sizeof(float));
  shared<256, 8, 1024>(transposed, queue.stream);
}

}  // namespace recheck::kernels::matvec
