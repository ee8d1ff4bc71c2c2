// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products of matrices beyond the documents. Launchers as in kernels/matmul/matmul.hpp.

#include <algorithm>
#include <cstdint>

#include "../../matmul/matmul.hpp"
#include "split_bound.hpp"
#include "strassen.hpp"

namespace recheck::kernels::matmul {

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

/// A row of floats that starts on 16 bytes, as the next one does.
constexpr std::int64_t padded_row(std::int64_t n) { return (n + 3) / 4 * 4; }

/// cp.async fills `stages` slabs in turn; tm×tn outputs per thread, `blocks` blocks per
/// multiprocessor. async_stages.cu
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int blocks>
void async_stages(const MatmulArgs& args, cudaStream_t stream);

/// The warps of a block that share the k of its tile, and the blocks of a cluster that do: as many
/// as leave each warp a slab and are not more than 256 in all, about what an H200 has room for.
inline constexpr int sharing_warps = 8;
constexpr int cluster_of_k(std::int64_t tiles, std::int64_t slabs, int most) {
  constexpr int blocks = 256;
  int cluster = 1;
  while (2 * cluster <= most && 2 * cluster * tiles <= blocks &&
         2 * cluster * sharing_warps <= slabs)
    cluster *= 2;
  return cluster;
}

/// The blocks that share it and leave their sums to a second kernel: until there are about so many
/// in all, and as many as leave each warp two slabs.
constexpr int blocks_of_k(std::int64_t tiles, std::int64_t slabs, int blocks) {
  constexpr int least = 2;
  if (tiles == 0) return 1;
  const std::int64_t most = std::min(blocks / tiles, slabs / (sharing_warps * least));
  return static_cast<int>(std::max<std::int64_t>(1, most));
}

/// The eight warps of a block share the k of its tile: lanes_m×32/lanes_m lanes, tm×tn outputs per
/// thread. Several blocks share it besides until there are about `blocks`, and a second kernel adds
/// their sums. Takes k_warps_floats of workspace, on 16 bytes. Compute capability 8.0. k_warps.cu
template <int lanes_m, int tm, int tn, int blocks>
void k_warps(const MatmulArgs& args, const Queue& queue);

/// For the products of all blocks that share k, with tiles of rows×columns.
inline constexpr int shared_k_depth = 16;
template <int rows, int columns, int blocks>
constexpr std::int64_t k_warps_floats(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t tiles = (m + rows - 1) / rows * ((n + columns - 1) / columns);
  const int count = blocks_of_k(tiles, (k + shared_k_depth - 1) / shared_k_depth, blocks);
  return count > 1 ? count * m * padded_row(n) : 0;
}

/// The same, but up to most_cluster blocks of a cluster share it, and add their sums themselves.
/// Compute capability 9.0. k_clusters.cu
template <int lanes_m, int tm, int tn, int most_cluster>
void k_clusters(const MatmulArgs& args, cudaStream_t stream);

/// A warpgroup fetches, warps_m×warps_n warps multiply, tm×tn outputs per thread; `split` blocks of
/// a cluster share k. Takes aligned_b_floats of workspace, on 16 bytes. Compute capability 9.0.
/// tma_persistent.cu
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int split, int blocks>
void tma_persistent(const MatmulArgs& args, const Queue& queue);

/// For B once more, with all rows on 16 bytes.
constexpr std::int64_t aligned_b_floats(std::int64_t k, std::int64_t n) {
  return k * padded_row(n);
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

/// C = A·B on Hopper's tensor cores: operands split into planes of a narrower type, products of
/// planes summed in fp32, the tensor core's sum promoted every `interval` along k (0: never). A
/// (m, k), B (k, n) and C (m, n) are row-major fp32; the workspace has the floats below.
/// split_fp16x3.cu, split_bf16x6.cu, split_tf32x3.cu
///
/// What they promise, for k < 2^24, of each element and of all finite inputs of which |A||B| is
/// below 2^127: |C - A·B| <= split_promise(sums, interval, k) · |A||B| + k · 2^-149, with
/// fp16x3_sums, bf16x6_sums or tf32x3_sums (split_bound.hpp derives it). That is IEEE fp32's own
/// bound, gamma_k, from k = 55 on for split_fp16x3<64>, 147 for split_bf16x6<64> and 34 for
/// split_tf32x3<32>, and for a smaller k no more than that of so many terms. It is no bit-for-bit
/// fp32: the error of a given product may be above that of an fp32 product, and below.
///
/// Where the guard stays down it is split_bound(), which grows with k/interval rather than with k:
/// at k = 100000 these three have less than a 56th, a 58th and a 31st of gamma_k. It surely does
/// where, for fp16, each row of A and each column of B is 0 throughout, or its largest magnitude is
/// in [2^e, 2^(e+1)) with |e| <= 60 and none but 0 is below 2^(e-28); for bf16 and TF32, where each
/// magnitude is 0 or in [2^-56, 2^56). Elsewhere it may be raised (split_planes.cuh says when), and
/// for Inf, for NaN and for k < split_least_k it always is: the product is computed in IEEE fp32
/// instead, Inf and NaN as IEEE has them.
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

/// C = A·B by `levels` levels of Strassen's multiplication, in Winograd's form, over products like
/// split_fp16x3<64>'s, and that product itself for k < split_strassen_least_k. split_strassen.cu
///
/// What it promises where it multiplies so and |A||B| is below 2^127: |C - A·B|ij <=
/// strassen_bound(fp16x3_sums, 64, levels, k) · k · R_i · C_j, where R_i is at most 4 times the
/// largest magnitude of row i of A and C_j of column j of B. No such method has a bound of
/// (|A||B|)ij, which may be far less. So where a row or column has more than 3·⌊k/8⌋ of its
/// elements below 1/32 of R_i or C_j, and where an element is Inf or NaN or a largest magnitude is
/// outside 2^±60, the product is split_fp16x3<64>'s, with what that promises.
template <int levels>
void split_strassen(const MatmulArgs& args, const Queue& queue);

/// At most, each with its own tiles of scratch.
constexpr int split_strassen_blocks = 160;
/// A product of blocks has 256 terms and more.
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
