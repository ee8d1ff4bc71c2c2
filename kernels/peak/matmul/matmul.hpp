// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix products beyond the documents. Launchers as in kernels/matmul/matmul.hpp.

#include <algorithm>
#include <cstdint>

#include "../../matmul/matmul.hpp"
#include "split_bound.hpp"
#include "strassen.hpp"

namespace recheck::kernels::matmul {

/// Tiles of C of tile×tile, slabs `depth` deep, a column of outputs per thread. register_column.cu
template <int tile_size, int depth, int column>
void register_column(const MatmulArgs& args, cudaStream_t stream);

/// As register_column, but with a square of side×side outputs per thread. register_tile.cu
template <int tile_size, int depth, int side>
void register_tile(const MatmulArgs& args, cudaStream_t stream);

/// 8×8 outputs per thread, moved four words at a time. vectorized.cu
template <int tile_size, int depth>
void vectorized(const MatmulArgs& args, cudaStream_t stream);

/// warps_m×warps_n warps with a compact tile of 32×64 each, fragments loaded ahead. warp_tile.cu
template <int warps_m, int warps_n, int depth>
void warp_tile(const MatmulArgs& args, cudaStream_t stream);

/// The length of a row of n floats, padded so that the next row starts on 16 bytes as well.
constexpr std::int64_t padded_row(std::int64_t n) { return (n + 3) / 4 * 4; }

/// cp.async fills `stages` slabs in turn; tm×tn outputs per thread, `blocks` blocks per
/// multiprocessor. async_stages.cu
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int blocks>
void async_stages(const MatmulArgs& args, cudaStream_t stream);

/// The warps of a block that share the k of its tile.
inline constexpr int sharing_warps = 8;

/// The number of blocks that share a tile's k and leave their sums to a second kernel: it stops at
/// about `blocks` in all, or when each warp has only two slabs left.
constexpr int blocks_of_k(std::int64_t tiles, std::int64_t slabs, int blocks) {
  constexpr int least = 2;
  if (tiles == 0) return 1;
  const std::int64_t most = std::min(blocks / tiles, slabs / (sharing_warps * least));
  return static_cast<int>(std::max<std::int64_t>(1, most));
}

/// The eight warps of a block share the k of its tile: lanes_m×32/lanes_m lanes, tm×tn outputs per
/// thread. Where there would be fewer than about `blocks` blocks, several share a tile's k as well,
/// and a second kernel adds their sums. Takes k_warps_floats of workspace, on 16 bytes. Compute
/// capability 8.0. k_warps.cu
template <int lanes_m, int tm, int tn, int blocks>
void k_warps(const MatmulArgs& args, const Queue& queue);

/// Workspace for the products of all blocks that share k, with tiles of rows×columns.
inline constexpr int shared_k_depth = 16;
template <int rows, int columns, int blocks>
constexpr std::int64_t k_warps_floats(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t tiles = (m + rows - 1) / rows * ((n + columns - 1) / columns);
  const int count = blocks_of_k(tiles, (k + shared_k_depth - 1) / shared_k_depth, blocks);
  return count > 1 ? count * m * padded_row(n) : 0;
}

/// A warpgroup fetches, warps_m×warps_n warps multiply, tm×tn outputs per thread; `split` blocks of
/// a cluster share k. Takes aligned_b_floats of workspace, on 16 bytes. Compute capability 9.0.
/// tma_persistent.cu
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int split>
void tma_persistent(const MatmulArgs& args, const Queue& queue);

/// Workspace for a copy of B with all rows on 16 bytes.
constexpr std::int64_t aligned_b_floats(std::int64_t k, std::int64_t n) {
  return k * padded_row(n);
}

/// As tma_persistent, but the tiles that remain after the last full wave are cut into equal ranges
/// of k. Takes stream_k_floats of workspace, on 16 bytes. Compute capability 9.0. stream_k.cu
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages>
void stream_k(const MatmulArgs& args, const Queue& queue);

/// Workspace for one tile for each of at most stream_k_blocks blocks, and for B.
constexpr int stream_k_blocks = 160, stream_k_tile = 128 * 256;
constexpr std::int64_t stream_k_parts = std::int64_t{stream_k_blocks} * stream_k_tile;
constexpr std::int64_t stream_k_floats(std::int64_t k, std::int64_t n) {
  return stream_k_parts + aligned_b_floats(k, n);
}

/// One of the kernels above, by the product's shape. Takes by_shape_floats of workspace, on 16
/// bytes. Compute capability 9.0. by_shape.cu
void by_shape(const MatmulArgs& args, const Queue& queue);

constexpr std::int64_t by_shape_floats(std::int64_t m, std::int64_t n, std::int64_t k) {
  return std::max({stream_k_floats(k, n), k_warps_floats<16, 32, 256>(m, n, k),
                   k_warps_floats<32, 32, 256>(m, n, k)});
}

/// C = A·B on Hopper's tensor cores: operands are split into planes of a narrower type, and
/// products of planes are summed in fp32. The tensor core's sum is promoted every `interval` along
/// k (0: never). A (m, k), B (k, n) and C (m, n) are row-major fp32; the workspace has the floats
/// below. split_fp16x3.cu, split_bf16x6.cu, split_tf32x3.cu
///
/// They promise, for k < 2^24, each element and all finite inputs for which |A||B| is below 2^127:
/// |C - A·B| <= split_promise(sums, interval, k) · |A||B| + k · 2^-149, with fp16x3_sums,
/// bf16x6_sums or tf32x3_sums (split_bound.hpp derives it). This is IEEE fp32's own bound, gamma_k,
/// from k = 55 for split_fp16x3<64>, 147 for split_bf16x6<64> and 34 for split_tf32x3<32>. For
/// smaller k it is at most gamma of that k. It is not bit-for-bit fp32: a given product may have a
/// larger error than an fp32 product, or a smaller one.
///
/// Where the guard stays down, the bound is split_bound(), which grows with k/interval rather than
/// with k. At k = 100000 these three have less than a 56th, a 58th and a 31st of gamma_k. For fp16
/// the guard stays down if each row of A and each column of B is 0 throughout, or has its largest
/// magnitude in [2^e, 2^(e+1)) with |e| <= 60 and no nonzero element below 2^(e-28). For bf16 and
/// TF32 it stays down if each magnitude is 0 or in [2^-56, 2^56). Otherwise it may be raised
/// (split_planes.cuh says when); for Inf, for NaN and for k < split_least_k it always is. Then the
/// product is computed in IEEE fp32, with IEEE's Inf and NaN.
template <int interval>
void split_fp16x3(const MatmulArgs& args, const Queue& queue);
template <int interval>
void split_bf16x6(const MatmulArgs& args, const Queue& queue);
template <int interval>
void split_tf32x3(const MatmulArgs& args, const Queue& queue);

/// Floats of workspace for `planes` planes of both operands with `bytes` per element, in either
/// orientation and with rows padded to 16 bytes, and for the maxima of rows and columns.
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

/// C = A·B by `levels` levels of Strassen's multiplication, in Winograd's form, over products like
/// split_fp16x3<64>'s; split_fp16x3<64> itself for k < split_strassen_least_k. split_strassen.cu
///
/// Where it multiplies that way and |A||B| is below 2^127, it promises |C - A·B|ij <=
/// strassen_bound(fp16x3_sums, 64, levels, k) · k · R_i · C_j. R_i is at most 4 times the largest
/// magnitude of row i of A, and C_j of column j of B. No such method has a bound in (|A||B|)ij,
/// which may be far less. So the product is split_fp16x3<64>'s, with its promise, in three cases: a
/// row or column has more than 3·⌊k/8⌋ elements below 1/32 of R_i or C_j; an element is Inf or NaN;
/// a largest magnitude is outside 2^±60.
template <int levels>
void split_strassen(const MatmulArgs& args, const Queue& queue);

/// The most blocks, each with its own tiles of scratch.
constexpr int split_strassen_blocks = 160;
/// A product of blocks has at least 256 terms.
template <int levels>
inline constexpr int split_strassen_least_k = 256 << levels;

template <int levels>
constexpr std::int64_t split_strassen_floats(std::int64_t m, std::int64_t n, std::int64_t k) {
  if (k < split_strassen_least_k<levels>) return split_fp16x3_floats(m, n, k);
  const auto block = [](std::int64_t extent) {
    return static_cast<std::int64_t>(strassen::block_extent(static_cast<int>(extent), levels));
  };
  return strassen::power(7, levels) * (block(m) + block(n)) * block(k) + m + 2 * n + 1024 +
         std::int64_t{split_strassen_blocks} * strassen::program<levels>().scratch * 128 * 128;
}

}  // namespace recheck::kernels::matmul
