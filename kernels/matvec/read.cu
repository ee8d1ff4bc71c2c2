// SPDX-License-Identifier: Apache-2.0
//
// The ceiling of a matrix–vector product: its compulsory bytes, read once, with next to no work on
// them.

#include "../fold.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

__global__ void __launch_bounds__(fold_block) read_kernel(MatvecArgs p) {
  const auto plainly = [](const uint4* at) { return *at; };
  const auto lane = static_cast<int>(threadIdx.x);
  const auto* v = reinterpret_cast<const unsigned*>(p.v);
  unsigned own = fold_words(v, p.columns, blockIdx.x, gridDim.x, lane, fold_block, plainly);
  if (p.pitch == p.columns * static_cast<std::int64_t>(sizeof(float))) {
    // without gaps between its rows the matrix is one long row
    own ^= fold_words(reinterpret_cast<const unsigned*>(p.a),
                      static_cast<std::int64_t>(p.rows) * p.columns, blockIdx.x, gridDim.x, lane,
                      fold_block, plainly);
  } else {
    // a warp per row, so that its lanes stay together at any shape
    constexpr int warp = 32, warps = fold_block / warp;
    for (std::int64_t row = blockIdx.x * std::int64_t{warps} + lane / warp; row < p.rows;
         row += gridDim.x * std::int64_t{warps})
      own ^= fold_words(reinterpret_cast<const unsigned*>(line(p, row)), p.columns, 0, 1,
                        lane % warp, warp, plainly);
  }
  store_fold(own, reinterpret_cast<unsigned*>(p.r));
}

}  // namespace

void read(const MatvecArgs& args, cudaStream_t stream) {
  const auto blocks = fold_blocks(static_cast<std::int64_t>(args.rows) * args.columns);
  read_kernel<<<blocks, fold_block, 0, stream>>>(args);
}

}  // namespace recheck::kernels::matvec
