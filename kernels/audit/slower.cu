// SPDX-License-Identifier: Apache-2.0
//
// A known amount of extra work of the same kind: a slowdown that the harness must find.

#include "rows.cuh"

namespace recheck::kernels::audit {

template <int permille>
void slower(const MatvecArgs& args, cudaStream_t stream) {
  launch_rows(args, args.rows + std::int64_t{args.rows} * permille / 1000, stream);
}

template void slower<10>(const MatvecArgs&, cudaStream_t);
template void slower<20>(const MatvecArgs&, cudaStream_t);
template void slower<50>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::audit
