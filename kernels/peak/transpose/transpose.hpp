// SPDX-License-Identifier: Apache-2.0
#pragma once

// Transpositions beyond the documents. Launchers as in kernels/transpose/transpose.hpp.

#include <cstdint>

#include "../../transpose/transpose.hpp"

namespace recheck::kernels::transpose {

// Each takes every shape and alignment. Where a kernel's technique needs aligned rows and they are
// not, it carries its tiles word by word.

/// Tiles in pieces of 16 bytes, 4×4 elements transposed in registers, a swizzled tile.
/// wide_tiles.cu
template <int tile_rows, int tile_columns, int threads>
void wide_tiles(const TransposeArgs& args, cudaStream_t stream);

/// Pieces of 16 bytes, blocks in the order of the output, little in flight; written lines leave L2
/// last. kept_lines.cu
template <int tile_rows, int tile_columns, int threads>
void kept_lines(const TransposeArgs& args, cudaStream_t stream);

/// For fewer than 32 rows or columns; otherwise as kept_lines, but without the hint to L2. thin.cu
void thin(const TransposeArgs& args, cudaStream_t stream);

}  // namespace recheck::kernels::transpose
