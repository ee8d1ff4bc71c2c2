// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../arguments.hpp"
#include "../stream.hpp"

namespace recheck::kernels::transpose {

// NVIDIA's eight kernels, as the SDK's transposeNew names them (A17): tiles of 32×32 elements, each
// the work of a block of 32×8 threads. Launchers put their work on a stream and return; they
// allocate nothing and keep no state. Errors are the caller's to read (cudaGetLastError), except
// cuBLAS's own, which are thrown. Extents are at most most_extent (arguments.hpp), and a grid's
// second dimension, which NVIDIA's eight give the rows, has 65535 tiles.

/// out = in, both rows×columns (ldout >= columns), from thread to thread. copy.cu
void copy(const TransposeArgs& args, cudaStream_t stream);

/// The same by way of a tile in shared memory. copy_shared.cu
void copy_shared(const TransposeArgs& args, cudaStream_t stream);

/// Reads rows, writes columns. naive.cu
void naive(const TransposeArgs& args, cudaStream_t stream);

/// Transposes in a tile of shared memory, so that reads and writes are both along rows.
/// coalesced.cu
void coalesced(const TransposeArgs& args, cudaStream_t stream);

/// The same with a padded tile, whose columns lie in different banks. no_bank_conflicts.cu
void no_bank_conflicts(const TransposeArgs& args, cudaStream_t stream);

/// No transposition: moves each tile to its transposed place as it is. An element that leaves the
/// matrix at a ragged edge is dropped, a place that none comes to becomes 0. out is columns×rows.
/// coarse_grained.cu
void coarse_grained(const TransposeArgs& args, cudaStream_t stream);

/// No transposition: transposes each tile inside and leaves it in its place; ragged edges as above.
/// out is rows×columns (ldout >= columns). fine_grained.cu
void fine_grained(const TransposeArgs& args, cudaStream_t stream);

/// As no_bank_conflicts, with the blocks in diagonal order. diagonal.cu
void diagonal(const TransposeArgs& args, cudaStream_t stream);

// The same eight as printed: int indices, no guards. They take whole tiles of 32×32, at least one,
// without padding, in as many elements as an int counts; sdk_fine_grained those of a square. sdk.cu
void sdk_copy(const TransposeArgs& args, cudaStream_t stream);
void sdk_copy_shared(const TransposeArgs& args, cudaStream_t stream);
void sdk_naive(const TransposeArgs& args, cudaStream_t stream);
void sdk_coalesced(const TransposeArgs& args, cudaStream_t stream);
void sdk_no_bank_conflicts(const TransposeArgs& args, cudaStream_t stream);
void sdk_coarse_grained(const TransposeArgs& args, cudaStream_t stream);
void sdk_fine_grained(const TransposeArgs& args, cudaStream_t stream);
void sdk_diagonal(const TransposeArgs& args, cudaStream_t stream);

// Later rungs. Each takes every shape and alignment; where rows are not aligned for what a rung is
// about, it carries its tiles word by word.

/// Tiles in pieces of 16 bytes, 4×4 elements transposed in registers, a swizzled tile.
/// wide_tiles.cu
template <int tile_rows, int tile_columns, int threads>
void wide_tiles(const TransposeArgs& args, cudaStream_t stream);

/// Pieces of 16 bytes, blocks in the order of the output, little in flight. output_order.cu
template <int tile_rows, int tile_columns, int threads>
void output_order(const TransposeArgs& args, cudaStream_t stream);

/// The same, and what is written leaves L2 last. kept_lines.cu
template <int tile_rows, int tile_columns, int threads>
void kept_lines(const TransposeArgs& args, cudaStream_t stream);

/// Tiles that TMA loads and stores, `stages` of them in shared memory. Compute
/// capability 9.0. tensor_tiles.cu
template <int stages>
void tensor_tiles(const TransposeArgs& args, cudaStream_t stream);

/// Bytes of shared memory that it asks for, for `fits` to compare with the device's limit.
constexpr std::int64_t tensor_tiles_shared_bytes(int stages) {
  return std::int64_t{stages} * 64 * 64 * static_cast<std::int64_t>(sizeof(float));
}

/// For fewer than 32 rows or columns; as output_order otherwise. thin.cu
void thin(const TransposeArgs& args, cudaStream_t stream);

/// cublasSgeam. cublas.cpp
void cublas(const TransposeArgs& args, const Queue& queue);

/// out = in, both rows×columns, by cudaMemcpy from device to device. memcpy.cpp
void memcpy(const TransposeArgs& args, cudaStream_t stream);

}  // namespace recheck::kernels::transpose
