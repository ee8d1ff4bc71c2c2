// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../arguments.hpp"
#include "../stream.hpp"

namespace recheck::kernels::matmul {

// Launchers put their work on a stream and return; they allocate nothing and keep no state, so that
// any number of them may run at once, each in a workspace of its own, on the current device.
// Extents are at most most_extent (arguments.hpp), and grids of 65535 rows of tiles where a row of
// the table says so; addresses and leading dimensions are those of any floats. Errors are the
// caller's to read (cudaGetLastError), except cuBLAS's own, which are thrown.

/// One thread per element of C, block×block threads. global.cu
template <int block>
void global(const MatmulArgs& args, cudaStream_t stream);

/// Shared-memory tiles, depth tiles of A and B per phase. tile.cu
template <int tile_size, int depth>
void tile(const MatmulArgs& args, cudaStream_t stream);

/// The programming guide's Matrix / GetSubMatrix form of the 1-deep tile. submatrix.cu
template <int tile_size>
void submatrix(const MatmulArgs& args, cudaStream_t stream);

/// The whole strips of A and B that a block needs, staged at once. full_strip.cu
template <int tile_size>
void full_strip(const MatmulArgs& args, cudaStream_t stream);

// The documents' listings as printed: int indices, no guards, a grid that rounds down. They take
// matrices without padding (lda = k, ldb = ldc = n) of whole tiles of 16×16, at least one of them,
// in as many elements as an int counts; any k only where that is said.

/// Square matrices, tiles of 16×16 in static arrays; the same four deep, as S0 describes it, where
/// the width is a multiple of 64. s0.cu
void s0_tiles(const MatmulArgs& args, cudaStream_t stream);
void s0_tiles_depth4(const MatmulArgs& args, cudaStream_t stream);

/// From global memory, any k; tiles in static arrays. s1.cu
void s1_kernel_0(const MatmulArgs& args, cudaStream_t stream);
void s1_kernel_1(const MatmulArgs& args, cudaStream_t stream);

/// The guide's structs: from global memory, any k; tiles by GetSubMatrix; whole strips, which S2
/// only asks about, in full_strip_shared_bytes(16, k). s2.cu
void s2_global(const MatmulArgs& args, cudaStream_t stream);
void s2_shared(const MatmulArgs& args, cudaStream_t stream);
void s2_full_strips(const MatmulArgs& args, cudaStream_t stream);

/// Bytes of dynamic shared memory that one block of a launcher asks for, for `fits` to compare with
/// the device's limit.
constexpr std::int64_t tile_shared_bytes(int tile_size, int depth) {
  return 2LL * tile_size * tile_size * depth * static_cast<std::int64_t>(sizeof(float));
}
constexpr std::int64_t full_strip_shared_bytes(int tile_size, std::int64_t k) {
  return 2LL * tile_size * k * static_cast<std::int64_t>(sizeof(float));
}

/// cuBLAS, pedantic fp32: the vendor's answer to the same question. cublas.cpp
void cublas(const MatmulArgs& args, const Queue& queue);

/// The same by the fastest of cuBLAS's algorithms at this shape, which the first launch on a handle
/// times; and whether this cuBLAS can. cublas.cpp
void cublas_autotuned(const MatmulArgs& args, const Queue& queue);
bool cublas_can_autotune();

/// cuBLAS with TF32 tensor cores: inputs lose 13 bits of mantissa. cublas.cpp
void cublas_tf32(const MatmulArgs& args, const Queue& queue);

}  // namespace recheck::kernels::matmul
