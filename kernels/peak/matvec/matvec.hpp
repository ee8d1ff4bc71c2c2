// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix–vector products beyond the documents. Launchers as in kernels/matvec/matvec.hpp.

#include <cstdint>

#include "../../matvec/matvec.hpp"

namespace recheck::kernels::matvec {

/// One warp per row, four words to a lane and `unroll` such loads under way. A by rows; rows that
/// do not start on 16 bytes are read word by word. vectorized.cu
template <int block, int unroll>
void vectorized(const MatvecArgs& args, cudaStream_t stream);

/// As vectorized, but with `rows` rows to a warp, which share each piece of the vector; reads of
/// the matrix bypass level 1. rows_per_warp.cu
template <int block, int rows, int unroll>
void rows_per_warp(const MatvecArgs& args, cudaStream_t stream);

/// A by rows, the columns split over the threads of a block. If there are too few rows to fill the
/// chip, also over `cluster` blocks, which needs compute capability 9.0. split_columns.cu
template <int block, int unroll, int cluster>
void split_columns(const MatvecArgs& args, cudaStream_t stream);

/// A by columns: a tile of rows to a block, whose groups of lanes take the columns in turn,
/// `unroll` of them under way; `cluster` blocks share a tile's columns if the rows are few. Compute
/// capability 9.0. column_tiles.cu
template <int unroll, int cluster>
void column_tiles(const MatvecArgs& args, cudaStream_t stream);

/// The largest cluster that column_tiles makes for that many rows. A matrix with very few rows gets
/// the largest that a chip has for a single tile.
constexpr int column_tiles_cluster(std::int64_t rows, int cluster) {
  return rows <= 64 ? 16 : cluster;
}

}  // namespace recheck::kernels::matvec
