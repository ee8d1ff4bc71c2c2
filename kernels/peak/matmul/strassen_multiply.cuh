// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel of split_strassen.cu: all products of a tile position, on split.cuh's main loop.
//
// The ring of slabs also fetches the tiles of scratch, as two slabs after a product's, since a
// round trip to L2 for each would leave the tensor cores idle for a tenth of the time. The block's
// threads write the tiles and the asynchronous proxy reads them, so a fence and an mbarrier
// separate the two. The threads pass these when their stores have long completed.

#include "split.cuh"
#include "strassen_planes.cuh"

namespace recheck::kernels::matmul::strassen {

using Scheme = split::Fp16x3;
using Plan = split::Plan<128, 64, split::Small::apart>;
using S = split::Sizes<Scheme, Plan::tile_n>;
constexpr int values = 64;
[[maybe_unused]] constexpr int slab_depth = S::depth;
constexpr int tile_vectors = 128 * 128 / 4;  // float4 of a tile of scratch
// slabs of a product before consumers report that they have stored the previous one's tiles: by
// then it costs no waiting
[[maybe_unused]] constexpr int told_after = 4;
static_assert(2 * S::slab == tile_vectors * sizeof(float4));
// consumers report a product's tiles before its successor's last slab is requested
static_assert(256 / slab_depth >= told_after + 2 && split_strassen_least_k<1> >> 1 == 256 &&
              split_strassen_least_k<2> >> 2 == 256);

[[maybe_unused]] __constant__ const Program<1> program_1 = program<1>();
[[maybe_unused]] __constant__ const Program<2> program_2 = program<2>();
template <int levels>
__device__ __forceinline__ const Program<levels>& steps_of() {
  if constexpr (levels == 1)
    return program_1;
  else
    return program_2;
}

struct Job {
  MatmulArgs p;
  Blocks blocks;
  const unsigned *row_max, *column_max;
  Guard* guard;
  float4* scratch;
};

struct Barriers {
  hopper::Mbarrier full[S::slots], empty[S::slots];
  hopper::Mbarrier stored;  // that a product's tiles of scratch are stored
};

/// The producer, one thread.
template <int levels>
__device__ __forceinline__ void produce(const CUtensorMap& a_map, const CUtensorMap& b_map,
                                        const Job& job, const split::Tiles<128>& tiles,
                                        Barriers& barriers) {
  const auto& program = steps_of<levels>();
  unsigned char* const slabs = split::ring_of_slabs();
  const float4* const scratch =
      job.scratch + std::int64_t{blockIdx.x} * program.scratch * tile_vectors;
  const int depth = (job.blocks.k + slab_depth - 1) / slab_depth;
  split::Ring<S::slots> ring = {barriers.full, barriers.empty};
  split::Pace pace(&job.guard->begun, tiles.count,
                   program.products * ((depth + split::leg - 1) / split::leg));
  unsigned stored_parity = 0;
  bool follows = false;  // on another product
  const auto next = [&]() -> unsigned char* {
    hopper::mbarrier_wait_parity(&ring.empty[ring.slot], ring.parity ^ 1);
    hopper::mbarrier_arrive_expect_tx(&ring.full[ring.slot], S::slab);
    return slabs + ring.slot * S::slab;
  };
  const auto fetch_tile = [&](int tile) {
    for (int half = 0; half < 2; ++half, ring.advance())
      hopper::cp_async_bulk_global_to_shared(
          next(), scratch + tile * tile_vectors + half * (tile_vectors / 2), S::slab,
          &ring.full[ring.slot]);
  };
  for (int t = blockIdx.x; t < tiles.count; t += gridDim.x) {
    int row, column;
    tiles.corner(t, row, column);
    for (int i = 0; i < program.products; ++i, follows = true) {
      const Step step = program.steps[i];
      if (step.start >= 0) fetch_tile(step.start);  // from two or more products ago
      for (int s = 0; s < depth; ++s, ring.advance()) {
        if (s % split::leg == 0) pace.begin_leg();
        // consumers report the previous product during this one's first slabs, and not again before
        // it has its last
        if (follows && s == depth - 1) {
          hopper::mbarrier_wait_parity(&barriers.stored, stored_parity);
          stored_parity ^= 1;
          hopper::fence_proxy_async_global();
        }
        unsigned char* to = next();
        hopper::Mbarrier* const full = &ring.full[ring.slot];
        hopper::cp_async_bulk_tensor_3d_global_to_shared(to, &a_map, s * slab_depth, row,
                                                         2 * step.product, full);
        to += Scheme::planes * S::a_plane;
#pragma unroll
        for (int j = 0; j < 2; ++j, to += S::b_box)
          hopper::cp_async_bulk_tensor_3d_global_to_shared(to, &b_map, column + 64 * j,
                                                           s * slab_depth, 2 * step.product, full);
      }
      for (int s = 0; s < step.sums; ++s)
        for (const int tile : program.sums[step.first_sum + s].plus) {
          if (tile == none) break;
          fetch_tile(tile);
        }
    }
  }
}

/// One of the two consumer warpgroups, which computes 64 rows of each tile.
template <int levels>
struct Consumer : split::Consumer<Scheme, Plan> {
  hopper::Mbarrier& stored;

  /// Adds a product to `sum`. If `tell`, reports that the current tiles of scratch may be fetched.
  __device__ __forceinline__ void multiply(float (&sum)[values], int slabs, bool tell) {
    split::Accumulators<Scheme, Plan> sums;
#pragma unroll
    for (int i = 0; i < values; ++i) {
      sums.sum[i] = sum[i];
      // set by assembly, so that no registers hold zeros between two products
      asm volatile("mov.f32 %0, 0f00000000;" : "=f"(sums.main[i]));
      asm volatile("mov.f32 %0, 0f00000000;" : "=f"(sums.rest[i]));
    }
    multiply_apart(sums, slabs, false, [&](int slab) {
      if (!tell || slab != told_after) return;
      hopper::fence_proxy_async_global();
      __syncwarp();
      if (lane == 0) hopper::mbarrier_arrive(&stored);
    });
#pragma unroll
    for (int i = 0; i < values; ++i) sum[i] = sums.total(i);
  }

  /// Adds the next tile of scratch.
  __device__ __forceinline__ void add_tile(float (&x)[values]) {
#pragma unroll
    for (int half = 0; half < 2; ++half, ring.advance()) {
      hopper::mbarrier_wait_parity(&ring.full[ring.slot], ring.parity);
      const auto* from =
          reinterpret_cast<const float4*>(split::ring_of_slabs() + ring.slot * S::slab) +
          threadIdx.x;
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float4 y = from[256 * j];
        float* const at = x + 32 * half + 4 * j;
        at[0] += y.x, at[1] += y.y, at[2] += y.z, at[3] += y.w;
      }
      // an mbarrier.arrive does not wait for pending loads from shared memory
      hopper::fence_proxy_async();
      __syncwarp();
      release(ring.slot);
    }
  }

  /// Stores a tile in scratch, (16 vectors, thread).
  __device__ __forceinline__ void keep(const float (&x)[values], float4* to) const {
#pragma unroll
    for (int j = 0; j < values / 4; ++j)
      __stcg(to + 256 * j, make_float4(x[4 * j], x[4 * j + 1], x[4 * j + 2], x[4 * j + 3]));
  }

  /// Stores a tile, scaled back, in a block of C.
  __device__ __forceinline__ void store(const float (&x)[values], int block, const Job& job,
                                        int row, int column) const {
    constexpr int across = 1 << levels;
    const MatmulArgs& p = job.p;
    // keeps the compiler from computing all addresses before the products, in registers that these
    // need
    asm volatile("" : "+r"(row), "+r"(column), "+r"(block));
    row += warpgroup * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
    column += lane % 4 * 2;
    const std::int64_t top = std::int64_t{block / across} * job.blocks.m;
    const std::int64_t left = std::int64_t{block % across} * job.blocks.n;
    const bool pairs = p.ldc % 2 == 0 && reinterpret_cast<std::uintptr_t>(p.c) % 8 == 0;
    const std::int64_t columns = min(std::int64_t{job.blocks.n}, p.n - left);
    const auto scale = [](const unsigned* maximum) {
      return split::scale_down(__ldg(maximum), 2 * levels, 0);  // of zeros: their results are 0
    };
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int y = row + 8 * half;
      if (y >= job.blocks.m || top + y >= p.m) break;
      const float row_scale = scale(job.row_max + top + y);
      float* const c = p.c + (top + y) * p.ldc + left;
#pragma unroll
      for (int j = 0; j < values / 4; ++j) {
        const int at = column + 8 * j;
        float first = x[4 * j + 2 * half], second = x[4 * j + 2 * half + 1];
        if (at < columns) first = first * row_scale * scale(job.column_max + left + at);
        if (at + 1 < columns) second = second * row_scale * scale(job.column_max + left + at + 1);
        if (pairs && at + 1 < columns) {
          __stcs(reinterpret_cast<float2*>(c + at), make_float2(first, second));
        } else {
          if (at < columns) c[at] = first;
          if (at + 1 < columns) c[at + 1] = second;
        }
      }
    }
  }

  __device__ __forceinline__ void put(const float (&x)[values], int to, const Job& job,
                                      float4* scratch, int row, int column) const {
    if (to >= c_block)
      store(x, to - c_block, job, row, column);
    else
      keep(x, scratch + to * tile_vectors);
  }

  __device__ __forceinline__ void consume(const Job& job, const split::Tiles<128>& tiles) {
    const auto& program = steps_of<levels>();
    float4* const scratch =
        job.scratch + std::int64_t{blockIdx.x} * program.scratch * tile_vectors + threadIdx.x;
    const int slabs = (job.blocks.k + slab_depth - 1) / slab_depth;
    float sum[values];
    bool follows = false;
    for (int t = blockIdx.x; t < tiles.count; t += gridDim.x) {
      int row, column;
      tiles.corner(t, row, column);
      for (int i = 0; i < program.products; ++i, follows = true) {
        const Step step = program.steps[i];
        if (step.start != self) {
#pragma unroll
          for (int v = 0; v < values; ++v) sum[v] = 0;
        }
        if (step.start >= 0) add_tile(sum);
        multiply(sum, slabs, follows);
        for (int s = step.first_sum; s < step.first_sum + step.sums; ++s) {
          const Sum made = program.sums[s];
          if (made.to == self) {
            add_tile(sum);
          } else if (made.plus[0] == none) {
            put(sum, made.to, job, scratch, row, column);
          } else {
            float x[values];
#pragma unroll
            for (int v = 0; v < values; ++v) x[v] = sum[v];
            add_tile(x);
            if (made.plus[1] != none) add_tile(x);
            put(x, made.to, job, scratch, row, column);
          }
        }
      }
    }
  }
};

template <int levels>
__global__ void __launch_bounds__(split::gemm_threads, 1)
    multiply([[maybe_unused]] const __grid_constant__ CUtensorMap a_map,
             [[maybe_unused]] const __grid_constant__ CUtensorMap b_map, [[maybe_unused]] Job job) {
#ifdef RECHECK_WGMMA
  hopper::griddepcontrol_launch_dependents();
  hopper::griddepcontrol_wait();
  if (job.guard->bad) return;
  __shared__ Barriers barriers;
  if (threadIdx.x == 0) {
    for (int i = 0; i < S::slots; ++i) {
      hopper::mbarrier_init(&barriers.full[i], 1);
      hopper::mbarrier_init(&barriers.empty[i], 4 * split::consumers);  // a lane of each warp
    }
    hopper::mbarrier_init(&barriers.stored, 4 * split::consumers);
    hopper::fence_mbarrier_init();
  }
  __syncthreads();
  MatmulArgs block = {};
  block.m = job.blocks.m, block.n = job.blocks.n;
  const split::Tiles<128> tiles(block);
  const int warpgroup = threadIdx.x / 128, lane = threadIdx.x % 32;
  if (warpgroup == split::consumers) {
    hopper::setmaxnreg_dec<24>();
    if (threadIdx.x % 128 == 0) produce<levels>(a_map, b_map, job, tiles, barriers);
    return;
  }
  hopper::setmaxnreg_inc<240>();
  Consumer<levels> consumer = {{{barriers.full, barriers.empty},
                                warpgroup,
                                lane,
                                hopper::shared_address(split::ring_of_slabs())},
                               barriers.stored};
  consumer.consume(job, tiles);
#endif
}

}  // namespace recheck::kernels::matmul::strassen
