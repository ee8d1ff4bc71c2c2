// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matvec/matvec.hpp"

namespace recheck::kernels::audit {

using matvec::MatvecArgs;

// One product r = A · v, a block per row, for the harness to measure itself by: the same launch
// under several names, whose times must not differ, and launches that do a known part more of the
// same work, whose times must. A by rows.

/// The product. same.cu
void same(const MatvecArgs& args, cudaStream_t stream);

/// The product, and permille/1000 of its rows, from the middle on, once more. slower.cu
template <int permille>
void slower(const MatvecArgs& args, cudaStream_t stream);

}  // namespace recheck::kernels::audit
