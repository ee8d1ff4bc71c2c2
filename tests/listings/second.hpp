// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

// A second, independent transcription of the CUDA listings of four old documents, kept apart from
// any other one so that the two can be compared.
//
//   S0  "Cuda matrix multiplication-using shared storage"
//   S1  a matrix product in two versions, "Computing version 0" and "Computing version 1"
//   S2  "matrix multiplication using shared memory", after the CUDA C programming guide
//   S3  slides on the CUDA optimization of the product of a matrix and a vector
//   sdk the eight kernels of NVIDIA's old SDK sample "transposeNew", which a table of S3 names
//
// All pointers are device pointers. All launchers only enqueue work on `stream` and leave launch
// errors to cudaGetLastError(). They throw std::invalid_argument for extents that the listing
// cannot handle.
namespace recheck::second {

// Matrix products C = A B. A is m x k, B is k x n, C is m x n, all row-major and packed. All
// extents are multiples of 16. A block of 16 x 16 threads makes a 16 x 16 tile of C.

// S1, version 0: one thread per element, global memory only.
void s1_kernel_0(const float* a, const float* b, float* c, int m, int n, int k,
                 cudaStream_t stream);

// S1, version 1: 16 x 16 tiles in shared memory.
void s1_kernel_1(const float* a, const float* b, float* c, int m, int n, int k,
                 cudaStream_t stream);

// S2, first listing: struct Matrix by value, global memory only.
void s2_global(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream);

// S2, second listing: struct Matrix with a stride, sub-matrices in shared memory.
void s2_shared(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream);

// S0, section 2: 16 x 16 tiles in shared memory. Square only: m == n == k.
void s0_tiles(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream);

// S0, section 4: tiles of 16 x 64 and 64 x 16. Square only, and a multiple of 64.
void s0_tiles_depth4(const float* a, const float* b, float* c, int m, int n, int k,
                     cudaStream_t stream);

// Products r = M v, where M has `rows` rows and `columns` columns: v has `columns` elements and r
// has `rows`. `block` is the number of threads of a block.
//
// For s3_naive, s3_block_per_row and s3_warp_per_row, `matrix` is M itself: rows x columns, row i
// starts at matrix + i * pitch_in_floats. Here the document's rowSize is `rows` and its columnSize
// is `columns`.
//
// For s3_transposed, s3_constant* and s3_shared, `matrix` is the transposed matrix: columns x
// rows, row i of it starts at matrix + i * pitch_in_floats. `rows` and `columns` still are those
// of the product. The document counts the rows and columns of what is stored, so here its rowSize
// is `columns` (the length of v) and its columnSize is `rows` (the length of r).

// S3, mxvNaive: one thread per row.
void s3_naive(const float* matrix, const float* v, float* r, int rows, int columns,
              int pitch_in_floats, int block, cudaStream_t stream);

// S3, the naive kernel on the transposed matrix.
void s3_transposed(const float* matrix, const float* v, float* r, int rows, int columns,
                   int pitch_in_floats, int block, cudaStream_t stream);

// The number of floats of v that s3_constant holds in constant memory: all 64 KiB of it.
inline constexpr int s3_constant_size = 16384;

// S3, mxvNaiveTransposeConstant: clears r, then for each batch of s3_constant_size elements of v
// copies the batch into constant memory and launches the kernel, which adds to r.
void s3_constant(const float* matrix, const float* v, float* r, int rows, int columns,
                 int pitch_in_floats, int block, cudaStream_t stream);

// The kernel of s3_constant alone, as the document times it: no copy of v and no clearing of r.
// Needs columns <= s3_constant_size and a call of s3_constant before it with the same v, whose
// copy stays in constant memory. It adds to r, and does not read its argument v.
void s3_constant_kernel_only(const float* matrix, const float* v, float* r, int rows, int columns,
                             int pitch_in_floats, int block, cudaStream_t stream);

// S3, mxvNaiveTransposeShared: v in chunks in shared memory. The document does not give the size
// of a chunk; here it is the size of the block.
void s3_shared(const float* matrix, const float* v, float* r, int rows, int columns,
               int pitch_in_floats, int block, cudaStream_t stream);

// S3, mxvBlock: one block per row. `block` must be a power of two.
void s3_block_per_row(const float* matrix, const float* v, float* r, int rows, int columns,
                      int pitch_in_floats, int block, cudaStream_t stream);

// S3, the announced warp method, a reconstruction: one warp per row. `block` must be a multiple
// of 32.
void s3_warp_per_row(const float* matrix, const float* v, float* r, int rows, int columns,
                     int pitch_in_floats, int block, cudaStream_t stream);

// Copies and transposes of a matrix `in` of `height` rows of `width` elements, packed. Both are
// multiples of 32. A block of 32 x 8 threads handles a 32 x 32 tile, and does so nreps times.

// A copy: out is like in.
void sdk_copy(const float* in, float* out, int width, int height, int nreps, cudaStream_t stream);

// A copy through shared memory.
void sdk_copy_shared(const float* in, float* out, int width, int height, int nreps,
                     cudaStream_t stream);

// A full transpose: out has `width` rows of `height` elements.
void sdk_naive(const float* in, float* out, int width, int height, int nreps, cudaStream_t stream);

// A full transpose through shared memory, with bank conflicts.
void sdk_coalesced(const float* in, float* out, int width, int height, int nreps,
                   cudaStream_t stream);

// A full transpose through padded shared memory.
void sdk_no_bank_conflicts(const float* in, float* out, int width, int height, int nreps,
                           cudaStream_t stream);

// Half a transpose: moves each tile to its transposed place, without transposing the tile.
void sdk_coarse_grained(const float* in, float* out, int width, int height, int nreps,
                        cudaStream_t stream);

// Half a transpose: transposes each tile in its place. Square only: width == height.
void sdk_fine_grained(const float* in, float* out, int width, int height, int nreps,
                      cudaStream_t stream);

// A full transpose through padded shared memory, with the blocks in diagonal order.
void sdk_diagonal(const float* in, float* out, int width, int height, int nreps,
                  cudaStream_t stream);

}  // namespace recheck::second
