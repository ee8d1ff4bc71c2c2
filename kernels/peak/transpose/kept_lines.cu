// SPDX-License-Identifier: Apache-2.0
//
// Blocks in the order in which the output lies in memory, each with little in flight. What a copy
// kernel gets from memory depends on the order of its writes: those of neighbouring blocks should
// lie in the same rows. Blocks down the columns of `in` write along the rows of out, and 512
// threads with two pieces each leave a block's place soon to the next in order; four times the
// bytes in flight measure 3 % slower, and so does the order of in. Addresses advance by addition.
//
// With the hint that written lines leave L2 last: the lines that were read go first, and those
// written have longer to become whole pages of DRAM. What is still in L2 when the kernel ends is
// written later, at others' cost; the gain is a constant two microseconds. Source: PTX ISA,
// createpolicy.

#include "wide.cuh"

namespace recheck::kernels::transpose {

template <int tile_rows, int tile_columns, int threads>
void kept_lines(const TransposeArgs& args, cudaStream_t stream) {
  launch_wide_tiles<tile_rows, tile_columns, threads, Order::of_output, Lines::kept>(args, stream);
}

template void kept_lines<64, 64, 512>(const TransposeArgs&, cudaStream_t);

}  // namespace recheck::kernels::transpose
