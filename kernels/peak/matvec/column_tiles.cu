// SPDX-License-Identifier: Apache-2.0
//
// A by columns, or y = Aᵀx of a matrix by rows, without a transposition: a block owns a tile of
// neighbouring rows, four to a lane, and its warps take the columns in turn. Where the rows make
// too few tiles to fill the chip, the blocks of a cluster share the columns of a tile and add their
// sums in the shared memory of the first, in the order of the blocks. Source: the loop after the
// transposition (S3) with vectors, loads in flight, and clusters (CUDA, Hopper).

#include "../cluster.cuh"
#include "chunk.cuh"
#include "column_tile.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

template <int block, int lanes, int width, int unroll, int cluster, bool vectors>
__global__ void __launch_bounds__(block) column_tiles_kernel(MatvecArgs p) {
  constexpr int tile_rows = width * lanes;
  __shared__ float tile[tile_rows], by_block[cluster][tile_rows];
  const unsigned rank = cluster > 1 ? cluster_ctarank() : 0;
  if constexpr (cluster > 1) barrier_cluster_arrive();  // waited for before the first remote store
  const std::int64_t first = std::int64_t{blockIdx.x} / cluster * tile_rows;
  column_tile<block, lanes, width, unroll, vectors>(p, first, static_cast<int>(rank), cluster,
                                                    tile);
  if constexpr (cluster > 1) {
    barrier_cluster_wait();  // every block of the cluster has begun
    for (int i = static_cast<int>(threadIdx.x); i < tile_rows; i += block)
      st_shared_cluster(&by_block[rank][i], 0, tile[i]);  // its own: the thread that added it
    barrier_cluster_arrive();
    barrier_cluster_wait();
    if (rank != 0) return;
  }
  for (int i = static_cast<int>(threadIdx.x); i < tile_rows && first + i < p.rows; i += block) {
    float sum = tile[i];
    for (int b = 1; b < cluster; ++b) sum += by_block[b][i];
    p.r[first + i] = sum;
  }
}

template <int block, int lanes, int width, int unroll, int cluster>
void launch(const MatvecArgs& p, cudaStream_t stream) {
  const std::int64_t tiles = (p.rows + std::int64_t{width * lanes} - 1) / (width * lanes);
  const auto grid = dim3(static_cast<unsigned>(tiles * cluster));
  if (width == 4 && starts_on_vectors(p))
    launch_clusters(cluster, column_tiles_kernel < block, lanes, width, unroll, cluster,
                    width == 4 >, grid, block, 0, stream, p);
  else
    launch_clusters(cluster, column_tiles_kernel<block, lanes, width, unroll, cluster, false>, grid,
                    block, 0, stream, p);
}

}  // namespace

template <int unroll, int cluster>
void column_tiles(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  constexpr int most = column_tiles_cluster(1, cluster);
  if (args.rows == 1)
    launch<512, 1, 1, unroll, most>(args, stream);
  else if (args.rows <= 8)
    launch<512, 8, 1, unroll, most>(args, stream);
  else if (args.rows <= 64)
    launch<512, 16, 4, unroll, most>(args, stream);
  else if (args.columns <= 8)  // a thread to each row's few columns
    launch<256, 256, 4, unroll, 1>(args, stream);
  else if (args.columns <= 64)
    launch<256, 32, 4, unroll, 1>(args, stream);
  // at most 128 tiles: a block, of as many threads as there can be, to a multiprocessor
  else if (args.rows <= 2048)
    launch<1024, 8, 4, unroll, cluster>(args, stream);
  else if (args.rows <= 4096)
    launch<1024, 8, 4, unroll, 1>(args, stream);
  else if (args.rows <= 8192)
    launch<1024, 16, 4, unroll, 1>(args, stream);
  else if (args.rows <= 16384)
    launch<1024, 32, 4, unroll, 1>(args, stream);
  else  // many blocks to a multiprocessor, each with less under way
    launch<512, 32, 4, unroll / 2, 1>(args, stream);
}

template void column_tiles<8, 2>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
