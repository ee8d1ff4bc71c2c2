// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../matvec/matvec.hpp"

namespace recheck::kernels::audit {

using matvec::MatvecArgs;

// One product r = A · v, a block per row, which the harness uses to audit itself. The same launch
// under several names must show equal times; launches with a known amount of extra work must show
// longer ones. A is stored by rows.

/// The product. same.cu
void same(const MatvecArgs& args, cudaStream_t stream);

/// The product, with permille/1000 of its rows, from the middle on, computed twice. slower.cu
template <int permille>
void slower(const MatvecArgs& args, cudaStream_t stream);

}  // namespace recheck::kernels::audit
