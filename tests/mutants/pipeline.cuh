// SPDX-License-Identifier: Apache-2.0
#pragma once

// The mechanisms of the Hopper kernels in their simplest form, with defects: a persistent grid
// whose blocks take tile after tile; a ring of slabs between a producer warp and consumer warps;
// clusters whose blocks share k; a kernel that starts while the previous one still runs.

#include <algorithm>

#include "../../kernels/launch.hpp"
#include "../../kernels/matmul/matmul.hpp"
#include "../../kernels/peak/cluster.cuh"
#include "../../kernels/peak/hopper.cuh"

namespace recheck::mutants {

enum class PipelineDefect {
  none,
  first_tile_only,          // blocks take one tile only
  sums_not_cleared,         // the next tile starts from the previous sums
  slab_given_back_too_soon  // the producer may fill a slot that is still being read
};

template <PipelineDefect defect>
__global__ void __launch_bounds__(544) pipeline_kernel(kernels::matmul::MatmulArgs p) {
#if __CUDA_ARCH__ >= 900
  namespace hopper = kernels::hopper;
  constexpr int tile_m = 128, tile_n = 256, depth = 8, slots = 2, warps = 16, own = 64;
  __shared__ float as[slots][depth][tile_m], bs[slots][depth][tile_n];
  __shared__ hopper::Mbarrier full[slots], empty[slots];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < slots; ++i) {
      hopper::mbarrier_init(&full[i], 32);
      hopper::mbarrier_init(&empty[i], warps);
    }
  }
  __syncthreads();
  const int tiles_n = (p.n + tile_n - 1) / tile_n;
  int tiles = (p.m + tile_m - 1) / tile_m * tiles_n;
  if (defect == PipelineDefect::first_tile_only) tiles = min(tiles, static_cast<int>(gridDim.x));
  int slot = 0;
  unsigned phase = 0;
  const int column = threadIdx.x % tile_n, half = threadIdx.x / tile_n;
  float sums[own] = {};  // of every second row of the tile
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int row0 = t / tiles_n * tile_m, column0 = t % tiles_n * tile_n;
    for (int k0 = 0; k0 < p.k; k0 += depth) {
      if (warp == warps) {
        hopper::mbarrier_wait_parity(&empty[slot], phase ^ 1);
        for (int i = lane; i < depth * tile_m; i += 32) {
          const int k = k0 + i % depth, row = row0 + i / depth;
          as[slot][i % depth][i / depth] = k < p.k && row < p.m ? p.a[row * p.lda + k] : 0;
        }
        for (int i = lane; i < depth * tile_n; i += 32) {
          const int k = k0 + i / tile_n, x = column0 + i % tile_n;
          bs[slot][i / tile_n][i % tile_n] = k < p.k && x < p.n ? p.b[k * p.ldb + x] : 0;
        }
        hopper::mbarrier_arrive(&full[slot]);
      } else {
        hopper::mbarrier_wait_parity(&full[slot], phase);
        if (defect == PipelineDefect::slab_given_back_too_soon) {
          if (lane == 0) hopper::mbarrier_arrive(&empty[slot]);
          if (warp % 2 == 1) __nanosleep(20'000);  // these still have to read the slot
        }
        for (int k = 0; k < depth; ++k)
#pragma unroll
          for (int i = 0; i < own; ++i) sums[i] += as[slot][k][half + 2 * i] * bs[slot][k][column];
        __syncwarp();
        if (defect != PipelineDefect::slab_given_back_too_soon && lane == 0)
          hopper::mbarrier_arrive(&empty[slot]);
      }
      if (++slot == slots) slot = 0, phase ^= 1;
    }
    if (warp == warps) continue;
#pragma unroll
    for (int i = 0; i < own; ++i) {
      const int row = row0 + half + 2 * i;
      if (row < p.m && column0 + column < p.n) p.c[row * p.ldc + column0 + column] = sums[i];
      if (defect != PipelineDefect::sums_not_cleared) sums[i] = 0;
    }
  }
#endif
}

template <PipelineDefect defect>
void pipeline(const kernels::matmul::MatmulArgs& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return;
  const int tiles = (p.m + 127) / 128 * ((p.n + 255) / 256);
  pipeline_kernel<defect><<<std::min(tiles, kernels::multiprocessors()), 544, 0, stream>>>(p);
}

/// An element's sum over the first or the second half of k.
__device__ inline float half_sum(const kernels::matmul::MatmulArgs& p, int row, int column,
                                 bool second) {
  float sum = 0;
  for (int k = second ? p.k / 2 : 0; k < (second ? p.k : p.k / 2); ++k)
    sum += p.a[row * p.lda + k] * p.b[k * p.ldb + column];
  return sum;
}

/// Two blocks of a cluster, each with half of k. The first adds the sums that the second stores in
/// its shared memory, after waiting for them if `waits`.
template <bool waits>
__global__ void __launch_bounds__(256) halves_kernel(kernels::matmul::MatmulArgs p) {
#if __CUDA_ARCH__ >= 900
  __shared__ float other[256];
  const unsigned rank = kernels::cluster_ctarank();
  kernels::barrier_cluster_arrive();
  kernels::barrier_cluster_wait();  // both have started
  const int tid = threadIdx.x, tiles_n = (p.n + 15) / 16, tile = blockIdx.x / 2;
  const int row = tile / tiles_n * 16 + tid / 16, column = tile % tiles_n * 16 + tid % 16;
  const bool inside = row < p.m && column < p.n;
  const float sum = inside ? half_sum(p, row, column, rank == 1) : 0;
  if (rank == 1) {
    if (!waits) __nanosleep(20'000);
    kernels::st_shared_cluster(&other[tid], 0, sum);
  }
  if (waits) {
    kernels::barrier_cluster_arrive();
    kernels::barrier_cluster_wait();
  }
  if (rank == 0 && inside) p.c[row * p.ldc + column] = sum + other[tid];
  kernels::barrier_cluster_arrive();  // the first block's memory must outlive the second's stores
  kernels::barrier_cluster_wait();
#endif
}

template <bool waits>
void halves(const kernels::matmul::MatmulArgs& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return;
  const unsigned tiles = static_cast<unsigned>((p.m + 15) / 16) * ((p.n + 15) / 16);
  kernels::launch_clusters(2, halves_kernel<waits>, dim3(2 * tiles), 256, 0, stream, p);
}

/// The sums over the first half of k; or, in a dependent launch, those over the second half added
/// to them, after waiting for the first kernel if `waits`.
template <bool second, bool waits>
__global__ void __launch_bounds__(256) behind_kernel(kernels::matmul::MatmulArgs p) {
#if __CUDA_ARCH__ >= 900
  if (!second) kernels::hopper::griddepcontrol_launch_dependents();
  if (!second && !waits) __nanosleep(20'000);
  if (second && waits) kernels::hopper::griddepcontrol_wait();
  const int tiles_n = (p.n + 15) / 16;
  const int row = blockIdx.x / tiles_n * 16 + threadIdx.x / 16;
  const int column = blockIdx.x % tiles_n * 16 + threadIdx.x % 16;
  if (row >= p.m || column >= p.n) return;
  const float before = second ? p.c[row * p.ldc + column] : 0;
  p.c[row * p.ldc + column] = before + half_sum(p, row, column, second);
#endif
}

template <bool waits>
void behind(const kernels::matmul::MatmulArgs& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return;
  const unsigned tiles = static_cast<unsigned>((p.m + 15) / 16) * ((p.n + 15) / 16);
  behind_kernel<false, waits><<<tiles, 256, 0, stream>>>(p);
  kernels::launch_behind(behind_kernel<true, waits>, tiles, 256, 0, stream, p);
}

}  // namespace recheck::mutants
