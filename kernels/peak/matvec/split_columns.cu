// SPDX-License-Identifier: Apache-2.0
//
// A matrix of few long rows: the columns are split over the threads of a block and over the blocks
// of a cluster. The partial sums of a cluster meet in the shared memory of its first block, which
// adds them in the order of the blocks. It takes one launch without a second pass, and the order is
// fixed. Source: split-K; thread block clusters and distributed shared memory (CUDA, Hopper).

#include "../cluster.cuh"
#include "chunk.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

template <int block, int rows, int unroll, int cluster, bool vectors>
__global__ void __launch_bounds__(block) split_columns_kernel(MatvecArgs p) {
  using Part = Chunk<vectors, block>;
  constexpr int warps = block / warp, step = unroll * Part::floats;
  static_assert(rows <= warp && cluster * rows <= block);
  __shared__ float by_warp[warps][rows], by_block[cluster][rows];
  const int tid = static_cast<int>(threadIdx.x), lane = tid % warp;
  const unsigned rank = cluster > 1 ? cluster_ctarank() : 0;
  if constexpr (cluster > 1) barrier_cluster_arrive();  // waited for before the first remote store
  const std::int64_t first = std::int64_t{blockIdx.x} / cluster * rows;
  const float* __restrict__ a[rows];
#pragma unroll
  for (int i = 0; i < rows; ++i) a[i] = line(p, first + i < p.rows ? first + i : 0);
  const float* __restrict__ v = p.v;
  float sums[rows] = {};
  if constexpr (rows == 1 && !vectors) {
    sums[0] = dot_unaligned < unroll<4 ? unroll : 4, cluster * block>(
                                  a[0], v, p.columns, static_cast<int>(rank) * block + tid);
  } else {
    // the blocks of a cluster take chunks in turn, so that they walk through the rows together
    constexpr int apart = cluster * Part::floats;
    std::int64_t j = rank * Part::floats;
    for (; j + (unroll - 1) * apart + Part::floats <= p.columns; j += unroll * apart) {
      float4 x[unroll][rows];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
#pragma unroll
        for (int i = 0; i < rows; ++i) x[u][i] = Part::read(a[i] + j + u * apart, tid, Streaming());
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const float4 y = Part::read(v + j + u * apart, tid, Cached());
#pragma unroll
        for (int i = 0; i < rows; ++i) sums[i] = dot(x[u][i], y, sums[i]);
      }
    }
    for (; j < p.columns; j += apart) {
      float4 x[rows];
#pragma unroll
      for (int i = 0; i < rows; ++i) x[i] = Part::read(a[i] + j, tid, p.columns - j, Streaming());
      const float4 y = Part::read(v + j, tid, p.columns - j, Cached());
#pragma unroll
      for (int i = 0; i < rows; ++i) sums[i] = dot(x[i], y, sums[i]);
    }
  }
  const int index = reduce_all<warp, rows>(sums, lane);
  if (lane % (warp / rows) == 0) by_warp[tid / warp][index] = sums[0];
  __syncthreads();
  float sum = 0;
  if (tid < rows)
    for (int w = 0; w < warps; ++w) sum += by_warp[w][tid];
  if constexpr (cluster > 1) {
    barrier_cluster_wait();  // every block of the cluster has begun
    if (tid < rows) st_shared_cluster(&by_block[rank][tid], 0, sum);
    barrier_cluster_arrive();
    barrier_cluster_wait();
    if (rank == 0 && tid < rows) {
      sum = 0;
      for (int b = 0; b < cluster; ++b) sum += by_block[b][tid];
    }
  }
  if (rank == 0 && tid < rows && first + tid < p.rows) p.r[first + tid] = sum;
}

template <int block, int rows, int unroll, int cluster, bool vectors>
void launch(const MatvecArgs& p, cudaStream_t stream) {
  const auto kernel = split_columns_kernel<block, rows, unroll, cluster, vectors>;
  const std::int64_t groups = (std::int64_t{p.rows} + rows - 1) / rows;
  launch_clusters(cluster, kernel, dim3(static_cast<unsigned>(groups * cluster)), block, 0, stream,
                  p);
}

template <int block, int rows, int unroll, int cluster>
void dispatch(const MatvecArgs& p, cudaStream_t stream) {
  if (all_on_vectors(p))
    launch<block, rows, unroll, cluster, true>(p, stream);
  else
    launch<block, rows, unroll, cluster, false>(p, stream);
}

}  // namespace

template <int block, int unroll, int cluster>
void split_columns(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  constexpr int many = 512, several = 32;
  if (args.rows >= many)  // a block per row fills the chip
    dispatch<block, 1, unroll, 1>(args, stream);
  else if (args.rows >= several)  // the rows of a block share the vector
    dispatch<block, 4, 4, cluster>(args, stream);
  else
    dispatch<2 * block, 1, 4, cluster>(args, stream);
}

template void split_columns<256, 2, 8>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
