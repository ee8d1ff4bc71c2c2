// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../include/recheck/arguments.hpp"
#include "../stream.hpp"

namespace recheck::kernels::matmul {

// Launchers put their work on a stream and return; they allocate nothing and keep no state. Errors
// are the caller's to read (cudaGetLastError), except cuBLAS's own, which are thrown.

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

/// Tiles of C of tile×tile, slabs `depth` deep, a column of outputs per thread. register_column.cu
template <int tile_size, int depth, int column>
void register_column(const MatmulArgs& args, cudaStream_t stream);

/// The same with a square of side×side outputs per thread. register_tile.cu
template <int tile_size, int depth, int side>
void register_tile(const MatmulArgs& args, cudaStream_t stream);

/// 8×8 outputs per thread, moved four words at a time. vectorized.cu
template <int tile_size, int depth>
void vectorized(const MatmulArgs& args, cudaStream_t stream);

/// warps_m×warps_n warps with a compact tile of 32×64 each, fragments loaded ahead. warp_tile.cu
template <int warps_m, int warps_n, int depth>
void warp_tile(const MatmulArgs& args, cudaStream_t stream);

/// cp.async fills `stages` slabs in turn; tm×tn outputs per thread, `blocks` blocks per
/// multiprocessor. async_stages.cu
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int blocks>
void async_stages(const MatmulArgs& args, cudaStream_t stream);

/// A warpgroup fetches, warps_m×warps_n warps multiply, tm×tn outputs per thread; `split` blocks of
/// a cluster share k. Takes aligned_b_floats of workspace, on 16 bytes. Compute capability 9.0.
/// tma_persistent.cu
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int split, int blocks>
void tma_persistent(const MatmulArgs& args, const Queue& queue);

/// For B once more, with all rows on 16 bytes.
constexpr std::int64_t aligned_b_floats(std::int64_t k, std::int64_t n) {
  return k * ((n + 3) / 4 * 4);
}

/// The same, but what does not fill all multiprocessors with whole tiles is cut into equal
/// stretches of k. Takes stream_k_floats of workspace, on 16 bytes. Compute capability 9.0.
/// stream_k.cu
template <int warps_m, int warps_n, int tm, int tn>
void stream_k(const MatmulArgs& args, const Queue& queue);

/// A tile of its own for each of the blocks, of which there are at most so many, and B.
constexpr int stream_k_blocks = 160, stream_k_tile = 128 * 256;
constexpr std::int64_t stream_k_floats(std::int64_t k, std::int64_t n) {
  return stream_k_blocks * stream_k_tile + aligned_b_floats(k, n);
}

/// Whichever of these was measured fastest nearest to the shape. Takes stream_k_floats of
/// workspace, on 16 bytes. best.cu
void best(const MatmulArgs& args, const Queue& queue);

/// Bytes of dynamic shared memory that one block of a launcher asks for, for `fits` to compare with
/// the device's limit.
constexpr std::int64_t tile_shared_bytes(int tile_size, int depth) {
  return 2LL * tile_size * tile_size * depth * static_cast<std::int64_t>(sizeof(float));
}
constexpr std::int64_t full_strip_shared_bytes(int tile_size, std::int64_t k) {
  return 2LL * tile_size * k * static_cast<std::int64_t>(sizeof(float));
}

/// fp32 accuracy from Hopper's tensor cores: operands split into planes of a narrower type,
/// products of planes summed in fp32, the tensor core's sum promoted every `interval` along k (0:
/// never). Inputs beyond a scheme's range are multiplied in IEEE fp32 instead. split_fp16x3.cu,
/// split_bf16x6.cu, split_tf32x3.cu
template <int interval>
void split_fp16x3(const MatmulArgs& args, const Queue& queue);
template <int interval>
void split_bf16x6(const MatmulArgs& args, const Queue& queue);
template <int interval>
void split_tf32x3(const MatmulArgs& args, const Queue& queue);

/// Floats of workspace for `planes` planes of `bytes` an element of both operands, either way
/// round, rows padded to 16 bytes, and for what is kept of rows and columns.
constexpr std::int64_t split_floats(std::int64_t m, std::int64_t n, std::int64_t k, int planes,
                                    int bytes) {
  return (m * (k + 8) + (k + 8) * (n + 8)) * planes * bytes / 4 + m + n + 512;
}
constexpr std::int64_t split_fp16x3_floats(std::int64_t m, std::int64_t n, std::int64_t k) {
  return split_floats(m, n, k, 2, 2);
}
constexpr std::int64_t split_bf16x6_floats(std::int64_t m, std::int64_t n, std::int64_t k) {
  return split_floats(m, n, k, 3, 2);
}
constexpr std::int64_t split_tf32x3_floats(std::int64_t m, std::int64_t n, std::int64_t k) {
  return split_floats(m, n, k, 2, 4);
}

/// cuBLAS, pedantic fp32: the vendor's answer to the same question. cublas.cpp
void cublas(const MatmulArgs& args, const Queue& queue);

/// cuBLAS with TF32 tensor cores: inputs lose 13 bits of mantissa. cublas.cpp
void cublas_tf32(const MatmulArgs& args, const Queue& queue);

}  // namespace recheck::kernels::matmul
