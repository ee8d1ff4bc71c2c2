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

/// cublasSgeam. cublas.cpp
void cublas(const TransposeArgs& args, const Queue& queue);

/// out = in, both rows×columns, by cudaMemcpy from device to device. memcpy.cpp
void memcpy(const TransposeArgs& args, cudaStream_t stream);

}  // namespace recheck::kernels::transpose
