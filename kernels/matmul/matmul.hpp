// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../arguments.hpp"
#include "../stream.hpp"
#include "wordings.hpp"

namespace recheck::kernels::matmul {

// Launchers queue their work on a stream and return. They allocate nothing and keep no state, so
// any number may run at once on the current device, each with its own workspace. Extents are at
// most most_extent (arguments.hpp), and at most 65535 rows of tiles for some rows of the table.
// Floats may have any address and leading dimension. The caller reads errors (cudaGetLastError),
// except cuBLAS's own, which are thrown.

/// One thread per element of C, block×block threads. global.cu
template <int block>
void global(const MatmulArgs& args, cudaStream_t stream);

/// Shared-memory tiles, depth tiles of A and B per phase. tile.cu
template <int tile_size, int depth>
void tile(const MatmulArgs& args, cudaStream_t stream);

/// The programming guide's Matrix / GetSubMatrix form of the 1-deep tile. submatrix.cu
template <int tile_size>
void submatrix(const MatmulArgs& args, cudaStream_t stream);

/// Stages the whole strips of A and B that a block needs at once. full_strip.cu
template <int tile_size>
void full_strip(const MatmulArgs& args, cudaStream_t stream);

// The documents' listings as printed: int indices, no guards, a grid that rounds down. They take
// unpadded matrices (lda = k, ldb = ldc = n) of at least one tile of 16×16, whole tiles only, whose
// elements an int can count. k is a multiple of 16 unless a listing takes any k.

/// Square matrices, tiles of 16×16 in static arrays. The second is four tiles deep, as S0 describes
/// it, and needs a width that is a multiple of 64. s0.cu
void s0_tiles(const MatmulArgs& args, cudaStream_t stream);
void s0_tiles_depth4(const MatmulArgs& args, cudaStream_t stream);

/// From global memory, any k; tiles in static arrays. Wording: one of wordings.hpp. s1.cu
template <typename Wording = Printed>
void s1_kernel_0(const MatmulArgs& args, cudaStream_t stream);
template <typename Wording = Printed>
void s1_kernel_1(const MatmulArgs& args, cudaStream_t stream);

/// The programming guide's structs: from global memory, any k; tiles by GetSubMatrix; whole strips,
/// which S2 only asks about, in full_strip_shared_bytes(16, k). s2.cu
void s2_global(const MatmulArgs& args, cudaStream_t stream);
void s2_shared(const MatmulArgs& args, cudaStream_t stream);
void s2_full_strips(const MatmulArgs& args, cudaStream_t stream);

/// Bytes of dynamic shared memory per block of a launcher, for `fits` to compare with the device's
/// limit.
constexpr std::int64_t tile_shared_bytes(int tile_size, int depth) {
  return 2LL * tile_size * tile_size * depth * static_cast<std::int64_t>(sizeof(float));
}
constexpr std::int64_t full_strip_shared_bytes(int tile_size, std::int64_t k) {
  return 2LL * tile_size * k * static_cast<std::int64_t>(sizeof(float));
}

/// cuBLAS in pedantic fp32. cublas.cpp
void cublas(const MatmulArgs& args, const Queue& queue);

/// As cublas, with the fastest algorithm at this shape, which the handle's first launch finds by
/// timing; and whether this version of cuBLAS can do that. cublas.cpp
void cublas_autotuned(const MatmulArgs& args, const Queue& queue);
bool cublas_can_autotune();

/// cuBLAS with TF32 tensor cores: inputs lose 13 bits of mantissa. cublas.cpp
void cublas_tf32(const MatmulArgs& args, const Queue& queue);

}  // namespace recheck::kernels::matmul
