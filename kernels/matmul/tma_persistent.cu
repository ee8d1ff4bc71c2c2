// SPDX-License-Identifier: Apache-2.0
//
// Producers and consumers. In async_stages.cu the warps that multiply also fetch, and every slab
// ends in a barrier for all. Here some warps only fetch, the registers that they do not need go to
// those that multiply, and both meet at two mbarriers for each slab: "full" and "empty". The copy
// engine (TMA) brings B; A, which has to stand transposed so that a fragment is one load of four
// words, comes word by word with cp.async, which arrives at the same barrier. The grid is
// persistent: a block per multiprocessor takes tile after tile, in bands that L2 serves. With few
// tiles a cluster of blocks shares k, and adds its parts in a fixed order through distributed
// shared memory. Source: warp specialisation as in CUTLASS's Hopper kernels, here for FFMA and a
// row-major A.
//
// What binds at 4096 and above is the issue of FFMA: its share of all issue slots is 0.94 (cuBLAS:
// 0.88), the rest are loads from shared memory and register banks that collide. Slower were:
// clusters that share B by multicast, slabs of 32, k split in three or more, twice the consumers.

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "../cluster.cuh"
#include "../hopper.cuh"
#include "../launch.hpp"
#include "../tensor_map.hpp"
#include "warp_tile.cuh"

namespace recheck::kernels::matmul {
namespace {

/// A plan and the sizes that follow from it, behind those of its tile.
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages_, int split_, int blocks_>
struct Plan : WarpTiles<warps_m, warps_n, tm, tn, depth> {
  using T = WarpTiles<warps_m, warps_n, tm, tn, depth>;
  static constexpr int stages = stages_, split = split_, blocks = blocks_;
  static constexpr int consumers = T::threads;
  // registers change hands between whole warpgroups, where a block has the multiprocessor to itself
  static constexpr bool registers_move = blocks == 1;
  static constexpr int producer_warps = registers_move ? 4 : 1;
  static constexpr int threads = consumers + 32 * producer_warps;
  static_assert(!registers_move || T::warps == 8, "what setmaxnreg hands out is for 8 + 4 warps");
  static constexpr int partial_sums = split > 1 ? T::rows* T::columns : 0;
  static constexpr int floats = std::max(stages * T::slab_floats, partial_sums);
  static constexpr int alignment = 1024;
  static constexpr int bytes = floats * 4 + stages * 2 * sizeof(hopper::Barrier) + alignment;
};

/// What a block does: of all `tiles` those from `first` on, each `stride` after the last, and
/// `count` slabs of k from `begin` on.
template <class P>
struct Share {
  int tiles, first, stride, begin, count;

  __device__ explicit Share(const MatmulArgs& p)
      : tiles(matmul::tiles<typename P::T>(p)),
        first(blockIdx.x / P::split),
        stride(gridDim.x / P::split) {
    const int slabs = (p.k + P::depth - 1) / P::depth, rank = blockIdx.x % P::split;
    begin = slabs * rank / P::split;
    count = slabs * (rank + 1) / P::split - begin;
  }
};

template <class P>
struct Ring {
  float* slabs;  // (stages, slab)
  hopper::Barrier *full, *empty;
  int slot = 0;
  unsigned phase = 0;

  __device__ void advance() {
    if (++slot == P::stages) slot = 0, phase ^= 1;
  }
};

[[maybe_unused]] __device__ inline void copy_word(unsigned to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
/// The word, or 0 where it is not `inside`; `base` is some address that may be read.
[[maybe_unused]] __device__ inline void copy_word(unsigned to, const float* from, bool inside,
                                                  const float* base) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(inside ? from : base),
               "r"(inside ? 4 : 0)
               : "memory");
}
/// Arrives once this thread's copies have.
[[maybe_unused]] __device__ inline void arrive_with_copies(hopper::Barrier* barrier) {
  asm volatile(
      "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(hopper::shared_address(barrier))
      : "memory");
}

/// Eight lanes read eight neighbours along k, four of them a row each.
template <class P>
__device__ __forceinline__ void produce(const CUtensorMap& map_b, const MatmulArgs& p,
                                        const Share<P>& share, Ring<P> ring, int warp, int lane) {
  constexpr int rows_at_once = 4 * P::producer_warps, passes = P::rows / rows_at_once;
  constexpr int pieces = P::depth / 8;  // of a row
  constexpr unsigned b_bytes = (P::slab_floats - P::a_floats) * sizeof(float);
  const int k_lane = lane % 8, row_lane = lane / 8 + warp * 4;
  const unsigned to_a = hopper::shared_address(ring.slabs) + 4 * (k_lane * P::a_pitch + row_lane);
  ring.phase = 1;  // all slots are empty
#pragma unroll 1
  for (int tile = share.first; tile < share.tiles; tile += share.stride) {
    const Place corner = place_of_tile<typename P::T>(p, tile);
    const float* from[passes];
#pragma unroll
    for (int i = 0; i < passes; ++i) {
      const std::int64_t row = min(corner.row + row_lane + rows_at_once * i, p.m - 1);
      from[i] = p.a + row * p.lda + share.begin * P::depth + k_lane;
    }
#pragma unroll 1
    for (int s = 0; s < share.count; ++s) {
      const int k0 = (share.begin + s) * P::depth;
      hopper::barrier_wait(ring.empty + ring.slot, ring.phase);
      hopper::Barrier* full = ring.full + ring.slot;
      if (lane == 0 && warp == 0) {
        hopper::barrier_expect(full, b_bytes);
        hopper::load_box(ring.slabs + ring.slot * P::slab_floats + P::a_floats, &map_b, full,
                         corner.column, k0, 0);
      }
      const unsigned to = to_a + ring.slot * P::slab_floats * 4;
      const auto at = [&](int i, int piece) {
        return to + 4 * (i * rows_at_once + piece * 8 * P::a_pitch);
      };
      if (k0 + P::depth <= p.k) {
#pragma unroll
        for (int i = 0; i < passes; ++i)
#pragma unroll
          for (int q = 0; q < pieces; ++q) copy_word(at(i, q), from[i] + 8 * q);
#pragma unroll
        for (int i = 0; i < passes; ++i) from[i] += P::depth;
      } else {  // the last slab
#pragma unroll
        for (int i = 0; i < passes; ++i)
#pragma unroll
          for (int q = 0; q < pieces; ++q)
            copy_word(at(i, q), from[i] + 8 * q, k0 + k_lane + 8 * q < p.k, p.a);
      }
      arrive_with_copies(full);
      ring.advance();
    }
  }
}

/// Multiplies; leaves each tile in C or, where k is split, the only one's sums in place of the
/// slabs.
template <class P>
__device__ __forceinline__ void consume(const MatmulArgs& p, const Share<P>& share, Ring<P> ring,
                                        int warp, int lane, bool vectors) {
  using T = typename P::T;
  Place mine = place_in_tile<T>(warp, lane);
  // kept in registers: else both are computed again for each slab
  asm("" : "+r"(mine.row), "+r"(mine.column));
  const int slabs = (share.tiles - share.first + share.stride - 1) / share.stride * share.count;

  Outputs<T> outputs;
  Fragment<T> fragment[2];  // what is multiplied, and what is loaded meanwhile
  const auto load = [&](int slot, int k, int into) {
    fragment[into].load(ring.slabs + slot * T::slab_floats, mine, k);
  };
  int done = 0;
  if (slabs > 0) {
    hopper::barrier_wait(ring.full, 0);
    load(0, 0, 0);
  }
#pragma unroll 1
  for (int tile = share.first; tile < share.tiles; tile += share.stride) {
#pragma unroll 1
    for (int s = 0; s < share.count; ++s) {
      const int slot = ring.slot;
      ring.advance();
      ++done;
#pragma unroll
      for (int k = 0; k < T::depth; ++k) {
        if (k == T::depth - 1) {
          __syncwarp();
          if (lane == 0) hopper::barrier_arrive(ring.empty + slot);
          if (done < slabs) hopper::barrier_wait(ring.full + ring.slot, ring.phase);
          load(ring.slot, 0, 0);  // behind the last slab these are stale words that none uses
        } else {
          load(slot, k + 1, (k + 1) % 2);
        }
        outputs.add(fragment[k % 2]);
      }
    }
    if constexpr (P::split == 1) {
      const Place corner = place_of_tile<T>(p, tile);
      outputs.store(p, vectors, corner.row + mine.row, corner.column + mine.column);
      outputs = {};
    }
  }
  if constexpr (P::split > 1) {
    hopper::named_wait(1, P::consumers);  // all have read their last slab
    MatmulArgs part = p;                  // whose C is the block's own
    part.m = T::rows, part.n = T::columns, part.c = ring.slabs, part.ldc = T::columns;
    outputs.store(part, true, mine.row, mine.column);
  }
}

/// Adds what the blocks of a cluster have left of their tile, each a share of it, in the order of
/// the blocks.
template <class P>
__device__ __forceinline__ void add_parts(const MatmulArgs& p, const Share<P>& share,
                                          const float* sums, bool vectors) {
  constexpr int across = P::columns / 4;
  __syncwarp();
  cluster_arrive();
  cluster_wait();
  const Place corner = place_of_tile<typename P::T>(p, share.first);
  const int rank = blockIdx.x % P::split;
  for (int i = rank * P::threads + threadIdx.x; i < P::rows * across; i += P::split * P::threads) {
    float4 total = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < P::split; ++r) {
      const float4 part = load_at(sums + 4 * i, r);
      total.x += part.x, total.y += part.y, total.z += part.z, total.w += part.w;
    }
    store_four(p, vectors, corner.row + i / across, corner.column + i % across * 4, total);
  }
  cluster_arrive();  // no block ends while others read its sums
  cluster_wait();
}

template <class P>
__global__ void __launch_bounds__(P::threads, P::blocks)
    persistent_kernel([[maybe_unused]] const __grid_constant__ CUtensorMap map_b,
                      [[maybe_unused]] MatmulArgs p, [[maybe_unused]] bool vectors) {
#ifdef RECHECK_HOPPER
  extern __shared__ char unaligned[];
  Ring<P> ring;
  ring.slabs = reinterpret_cast<float*>(unaligned +
                                        (-hopper::shared_address(unaligned) & (P::alignment - 1)));
  ring.full = reinterpret_cast<hopper::Barrier*>(ring.slabs + P::floats);
  ring.empty = ring.full + P::stages;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Share<P> share(p);
  if (threadIdx.x == 0) {
    hopper::prefetch_map(&map_b);
    for (int s = 0; s < P::stages; ++s) {
      hopper::barrier_init(ring.full + s, 32 * P::producer_warps + 1);
      hopper::barrier_init(ring.empty + s, P::warps);
    }
    hopper::barrier_init_done();
  }
  __syncthreads();
  if (warp >= P::warps) {
    if constexpr (P::registers_move) hopper::release_registers<40>();
    produce<P>(map_b, p, share, ring, warp - P::warps, lane);
  } else {
    if constexpr (P::registers_move) hopper::take_registers<232>();
    consume<P>(p, share, ring, warp, lane, vectors);
  }
  if constexpr (P::split > 1) add_parts<P>(p, share, ring.slabs, vectors);
#endif
}

}  // namespace

template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int split, int blocks>
void tma_persistent(const MatmulArgs& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return;
  using P = Plan<warps_m, warps_n, tm, tn, depth, stages, split, blocks>;
  CUtensorMap map_b;
  const TensorSpec b = {.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                        .element_bytes = sizeof(float),
                        .base = p.b,
                        .columns = p.n,
                        .rows = p.k,
                        .planes = 1,
                        .ld = p.ldb,
                        .plane = p.ldb * p.k,
                        .box_columns = P::columns,
                        .box_rows = P::depth,
                        .box_planes = 1};
  // the copy engine takes rows that start at multiples of 16 bytes
  if (p.k == 0 || !on_vectors(p.b, p.ldb) || !encode(b, map_b))
    return async_stages<2, 2, 8, 8, 16, 4, 3>(p, stream);
  const auto kernel = persistent_kernel<P>;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, P::bytes) !=
      cudaSuccess)
    return;  // the error stays for the caller's cudaGetLastError
  const int count = tiles<typename P::T>(p);
  const int grid = split > 1 ? count * split : std::min(count, multiprocessors() * blocks);
  launch_clusters<split>(kernel, dim3(grid), P::threads, P::bytes, stream, map_b, p,
                         on_vectors(p.c, p.ldc));
}

template void tma_persistent<4, 2, 8, 16, 16, 5, 1, 1>(const MatmulArgs&, cudaStream_t);
template void tma_persistent<4, 2, 8, 16, 16, 3, 1, 1>(const MatmulArgs&, cudaStream_t);
template void tma_persistent<4, 2, 8, 16, 32, 3, 1, 1>(const MatmulArgs&, cudaStream_t);
template void tma_persistent<2, 2, 8, 4, 16, 5, 2, 3>(const MatmulArgs&, cudaStream_t);
template void tma_persistent<2, 2, 8, 4, 16, 5, 4, 3>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
