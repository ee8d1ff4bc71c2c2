// SPDX-License-Identifier: Apache-2.0
//
// The roof of a matrix–vector product: its compulsory bytes, read once and used for next to
// nothing.

#include "../fold.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

static_assert(read_partials == fold_partials);

__global__ void __launch_bounds__(fold_block) read_kernel(MatvecArgs p) {
  const auto plainly = [](const uint4* at) { return *at; };
  const std::int64_t thread = blockIdx.x * static_cast<std::int64_t>(fold_block) + threadIdx.x;
  const std::int64_t threads = gridDim.x * static_cast<std::int64_t>(fold_block);
  const auto* v = reinterpret_cast<const unsigned*>(p.v);
  unsigned own = fold_words(v, p.columns, thread, threads, plainly);
  if (p.pitch == p.columns * static_cast<std::int64_t>(sizeof(float))) {
    // without gaps between its rows the matrix is one long row
    const auto* a = reinterpret_cast<const unsigned*>(p.a);
    own ^= fold_words(a, static_cast<std::int64_t>(p.rows) * p.columns, thread, threads, plainly);
  } else {
    // a warp per row: any shape keeps its lanes together
    for (std::int64_t row = thread / 32; row < p.rows; row += threads / 32)
      own ^= fold_words(reinterpret_cast<const unsigned*>(line(p, row)), p.columns, thread % 32, 32,
                        plainly);
  }
  store_fold(own, reinterpret_cast<unsigned*>(p.r));
}

}  // namespace

void read(const MatvecArgs& args, cudaStream_t stream) {
  const auto blocks = fold_blocks(static_cast<std::int64_t>(args.rows) * args.columns);
  read_kernel<<<blocks, fold_block, 0, stream>>>(args);
}

}  // namespace recheck::kernels::matvec
