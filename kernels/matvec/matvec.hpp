// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "../arguments.hpp"
#include "../fold.hpp"
#include "../stream.hpp"

namespace recheck::kernels::matvec {

#ifdef __CUDACC__
/// Where a stored row (or column) of A begins. The pitch counts bytes, so the pointer has to be one
/// of bytes as well; S3 indexes floats with it, which is wrong.
__device__ inline const float* line(const MatvecArgs& p, std::int64_t index) {
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(p.a) + index * p.pitch);
}
#endif

// Launchers queue their work on a stream and return. They allocate nothing, and any number may run
// at once on the current device, each with its own workspace. Extents are at most most_extent
// (arguments.hpp); floats may have any address and pitch. The caller reads errors
// (cudaGetLastError), except cuBLAS's own, which are thrown. block: threads per block; unroll:
// unrolling of the loop over a row.

/// One thread per row, A by rows. naive.cu
template <int block, int unroll>
void naive(const MatvecArgs& args, cudaStream_t stream);

/// One thread per row, A by columns: neighbouring threads read neighbouring words. transposed.cu
template <int block, int unroll>
void transposed(const MatvecArgs& args, cudaStream_t stream);

/// As transposed, but with the vector in constant memory, one batch at a time. Each device has only
/// one constant memory: a launch on a different stream waits on the host for the device. Graphs
/// with it must not run at once. constant.cu
template <int block, int unroll>
void constant(const MatvecArgs& args, cudaStream_t stream);

/// Only the copies into constant memory that `constant` makes. constant.cu
void constant_copy(const MatvecArgs& args, cudaStream_t stream);

/// Floats of the vector that fit in constant memory at once: all of its 64 KB.
inline constexpr int constant_batch = 16384;

/// As transposed, but the vector goes through shared memory, `chunk` floats at a time. shared.cu
template <int block, int unroll, int chunk>
void shared(const MatvecArgs& args, cudaStream_t stream);

/// One block per row, A by rows, a tree reduction in shared memory. block_per_row.cu
template <int block>
void block_per_row(const MatvecArgs& args, cudaStream_t stream);

/// One warp per row, A by rows, a tree reduction by shuffles. warp_per_row.cu
template <int block>
void warp_per_row(const MatvecArgs& args, cudaStream_t stream);

/// One warp per row in the style from before shuffles: shared memory holds the vector, and the
/// reduction uses it too. A by rows. warp_per_row_shared.cu
void warp_per_row_shared(const MatvecArgs& args, cudaStream_t stream);

// S3's listings as printed, with 32-bit indices; template parameters stand for what a listing
// leaves open. unroll: 0 means a loop without a pragma. They throw std::length_error where the
// pitch makes a matrix too long for the indices. index: bits of the index into the matrix, 32
// or 64. is_restrict: whether pointers are __restrict__, where the listing's are not.

/// s3_naive.cu
template <int block, int unroll, int index = 32, bool is_restrict = false>
void s3_naive(const MatvecArgs& args, cudaStream_t stream);

/// s3_transposed.cu
template <int block, int unroll, int index = 32, bool is_restrict = false>
void s3_transposed(const MatvecArgs& args, cudaStream_t stream);

/// Clears r, then copies and launches for each constant_batch of the vector. Streams and graphs: as
/// constant. s3_constant.cu
template <int block, int unroll>
void s3_constant(const MatvecArgs& args, cudaStream_t stream);

/// s3_shared.cu
template <int block, int unroll, int chunk, int index = 32, bool is_restrict = false>
void s3_shared(const MatvecArgs& args, cudaStream_t stream);

/// s3_block_per_row.cu
template <int block>
void s3_block_per_row(const MatvecArgs& args, cudaStream_t stream);

/// s3_warp_per_row.cu
template <int block>
void s3_warp_per_row(const MatvecArgs& args, cudaStream_t stream);

/// A by rows: transposes it into the queue's workspace, then calls `shared`.
/// transpose_then_matvec.cpp
void transpose_then_matvec(const MatvecArgs& args, const Queue& queue);

/// Only the first half: stores A's columns, one after another, in the workspace.
void transpose_then_matvec_transpose(const MatvecArgs& args, const Queue& queue);

/// Floats of workspace that transpose_then_matvec needs: columns start at multiples of 512 bytes.
constexpr std::int64_t transposed_floats(std::int64_t rows, std::int64_t columns) {
  return (rows + 127) / 128 * 128 * columns;
}

/// cublasSgemv on a matrix stored by rows (OP_T), and on one stored by columns (OP_N). cublas.cpp
void cublas(const MatvecArgs& args, const Queue& queue);
void cublas_column_major(const MatvecArgs& args, const Queue& queue);

/// Not a product but the ceiling of memory: reads A (by rows) and v once, and stores fold_partials
/// words in r whose exclusive or is that of all words read. read.cu
void read(const MatvecArgs& args, cudaStream_t stream);

}  // namespace recheck::kernels::matvec
