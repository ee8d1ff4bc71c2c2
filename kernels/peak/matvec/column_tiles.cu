// SPDX-License-Identifier: Apache-2.0
//
// A by columns, or y = Aᵀx of a matrix by rows, without a transposition: a block owns a tile of
// neighbouring rows, four to a lane, and its warps take the columns in turn. Where the rows make
// too few tiles to fill the chip, the blocks of a cluster share the columns of a tile and add their
// sums in the shared memory of the first, in the order of the blocks. Source: the loop after the
// transposition (S3) with vectors, loads in flight, and clusters (CUDA, Hopper).

#include "../cluster.cuh"
#include "chunk.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

/// Neighbouring lanes own neighbouring rows, `width` to a lane. Groups of `lanes` lanes take
/// columns in turn, in all of the `blocks` blocks that share the tile, with `unroll` of them under
/// way, so all blocks walk through the columns together. Stores the sums of rows first to first +
/// width·lanes in tile, added in the order of the block's groups, by the threads with these
/// indices. The whole block must call it; the caller adds the barriers that follow.
template <int block, int lanes, int width, int unroll, bool vectors>
__device__ void column_tile(const MatvecArgs& p, std::int64_t first, int index, int blocks,
                            float (&tile)[width * lanes]) {
  constexpr int rows = width * lanes, own_groups = block / lanes;
  constexpr int inner = lanes < warp ? warp / lanes : 1;  // groups within a warp
  constexpr int outer = own_groups / inner;
  __shared__ float by_group[outer][rows];
  const int tid = static_cast<int>(threadIdx.x), lane = tid % lanes, group = tid / lanes;
  const int apart = blocks * own_groups;
  const float* __restrict__ v = p.v;
  float sums[width] = {};
  const auto run = [&](int columns, auto read) {
    int j = index * own_groups + group;
    const auto step = [&](auto there) {
      float x[unroll][width], y[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const int column = j + u * apart;
        if (there(column)) {
          read(line(p, column), x[u]);
        } else {
#pragma unroll
          for (int k = 0; k < width; ++k) x[u][k] = 0;
        }
      }
#pragma unroll
      for (int u = 0; u < unroll; ++u) y[u] = there(j + u * apart) ? __ldg(v + j + u * apart) : 0;
#pragma unroll
      for (int u = 0; u < unroll; ++u)
#pragma unroll
        for (int k = 0; k < width; ++k) sums[k] += x[u][k] * y[u];
    };
    for (; j < columns - (unroll - 1) * apart; j += unroll * apart) step([](int) { return true; });
    if (j < columns) step([&](int column) { return column < columns; });
  };
  const auto there = static_cast<int>(min(p.rows - first, std::int64_t{rows}));
  // a lane's rows: a vector, or `lanes` apart so that words coalesce as well
  const auto row = [&](int k) { return vectors ? width * lane + k : lane + k * lanes; };
  // a row beyond the last reads an existing one, so that no load waits for a test
  if constexpr (vectors) {
    static_assert(width == 4);
    // a vector may reach beyond the last row: into the gap before the next column, if there is one
    const int columns = there < rows && p.columns > 0 ? p.columns - 1 : p.columns;
    const int own = min(lane, (there - 1) / width);
    run(columns, [&](const float* column, float(&x)[width]) {
      const float4 four = Streaming()(reinterpret_cast<const float4*>(column + first) + own);
      x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
    });
    if (index == 0 && group == 0)
      for (int j = columns; j < p.columns; ++j)
#pragma unroll
        for (int k = 0; k < width; ++k)
          if (row(k) < there) sums[k] += line(p, j)[first + row(k)] * v[j];
  } else {
    int at[width];
#pragma unroll
    for (int k = 0; k < width; ++k) at[k] = min(row(k), there - 1);
    run(p.columns, [&](const float* column, float(&x)[width]) {
#pragma unroll
      for (int k = 0; k < width; ++k) x[k] = Streaming()(column + first + at[k]);
    });
  }
#pragma unroll
  for (int half = warp / 2; half >= lanes; half /= 2)
#pragma unroll
    for (int k = 0; k < width; ++k) sums[k] += __shfl_xor_sync(all_lanes, sums[k], half);
  if (group % inner == 0)
#pragma unroll
    for (int k = 0; k < width; ++k) by_group[group / inner][row(k)] = sums[k];
  __syncthreads();
  for (int i = tid; i < rows; i += block) {
    float sum = 0;
#pragma unroll
    for (int g = 0; g < outer; ++g) sum += by_group[g][i];
    tile[i] = sum;
  }
}

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
      st_shared_cluster(&by_block[rank][i], 0, tile[i]);  // by the thread that added it
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
  else if (args.columns <= 8)  // a thread for each row's few columns
    launch<256, 256, 4, unroll, 1>(args, stream);
  else if (args.columns <= 64)
    launch<256, 32, 4, unroll, 1>(args, stream);
  // at most 128 tiles: one block per multiprocessor, with as many threads as possible
  else if (args.rows <= 2048)
    launch<1024, 8, 4, unroll, cluster>(args, stream);
  else if (args.rows <= 4096)
    launch<1024, 8, 4, unroll, 1>(args, stream);
  else if (args.rows <= 8192)
    launch<1024, 16, 4, unroll, 1>(args, stream);
  else if (args.rows <= 16384)
    launch<1024, 32, 4, unroll, 1>(args, stream);
  else  // many blocks per multiprocessor, each with less under way
    launch<512, 32, 4, unroll / 2, 1>(args, stream);
}

template void column_tiles<8, 2>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
