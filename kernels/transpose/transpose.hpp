// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../arguments.hpp"
#include "../stream.hpp"

namespace recheck::kernels::transpose {

// NVIDIA's eight kernels, as the SDK's transposeNew names them (A17): a block of 32×8 threads for
// each tile of 32×32 elements. Launchers queue their work on a stream and return; they allocate
// nothing and keep no state. The caller reads errors (cudaGetLastError), except cuBLAS's own, which
// are thrown. Extents are at most most_extent (arguments.hpp). A grid's second dimension, which
// NVIDIA's eight use for the rows, has at most 65535 tiles.

/// out = in, both rows×columns (ldout >= columns), without shared memory. copy.cu
void copy(const TransposeArgs& args, cudaStream_t stream);

/// As copy, but through a tile in shared memory. copy_shared.cu
void copy_shared(const TransposeArgs& args, cudaStream_t stream);

/// Reads rows, writes columns. naive.cu
void naive(const TransposeArgs& args, cudaStream_t stream);

/// Transposes in a tile of shared memory, so that reads and writes are both along rows.
/// coalesced.cu
void coalesced(const TransposeArgs& args, cudaStream_t stream);

/// As coalesced, but with a padded tile, whose columns lie in different banks. no_bank_conflicts.cu
void no_bank_conflicts(const TransposeArgs& args, cudaStream_t stream);

/// Not a transposition: moves each tile unchanged to its transposed place. An element that leaves
/// the matrix at a ragged edge is dropped; a place that receives no element becomes 0. out is
/// columns×rows. coarse_grained.cu
void coarse_grained(const TransposeArgs& args, cudaStream_t stream);

/// Not a transposition: transposes each tile inside and leaves it in its place, with ragged edges
/// as in coarse_grained. out is rows×columns (ldout >= columns). fine_grained.cu
void fine_grained(const TransposeArgs& args, cudaStream_t stream);

/// As no_bank_conflicts, with the blocks in diagonal order. diagonal.cu
void diagonal(const TransposeArgs& args, cudaStream_t stream);

// The eight kernels as printed: int indices, no guards. They take unpadded matrices of at least one
// tile of 32×32, whole tiles only, whose elements an int can count; sdk_fine_grained takes only
// squares. sdk.cu
void sdk_copy(const TransposeArgs& args, cudaStream_t stream);
void sdk_copy_shared(const TransposeArgs& args, cudaStream_t stream);
void sdk_naive(const TransposeArgs& args, cudaStream_t stream);
void sdk_coalesced(const TransposeArgs& args, cudaStream_t stream);
void sdk_no_bank_conflicts(const TransposeArgs& args, cudaStream_t stream);
void sdk_coarse_grained(const TransposeArgs& args, cudaStream_t stream);
void sdk_fine_grained(const TransposeArgs& args, cudaStream_t stream);
void sdk_diagonal(const TransposeArgs& args, cudaStream_t stream);

/// cublasSgeam. cublas.cpp
void cublas(const TransposeArgs& args, const Queue& queue);

/// out = in, both rows×columns, by a device-to-device cudaMemcpy. memcpy.cpp
void memcpy(const TransposeArgs& args, cudaStream_t stream);

}  // namespace recheck::kernels::transpose
