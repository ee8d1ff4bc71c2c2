// SPDX-License-Identifier: Apache-2.0
//
// The rung that suits the shape: thin below 32 rows or columns; tiles of half the size while whole
// ones would be too few for all multiprocessors; else output_order.

#include "transpose.hpp"

namespace recheck::kernels::transpose {

void best(const TransposeArgs& args, cudaStream_t stream) {
  if (args.rows < 32 || args.columns < 32) return thin(args, stream);
  if (std::int64_t{args.rows} * args.columns < 1 << 23)  // 2,048 tiles of 64×64
    return output_order<32, 64, 256>(args, stream);
  output_order<64, 64, 512>(args, stream);
}

}  // namespace recheck::kernels::transpose
