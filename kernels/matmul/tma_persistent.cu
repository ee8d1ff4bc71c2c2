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
#include "../tensor_map.hpp"
#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

/// A plan and the sizes that follow from it. A warp multiplies 4×8 lanes' tiles of tm×tn.
template <int warps_m_, int warps_n_, int tm_, int tn_, int depth_, int stages_, int split_,
          int blocks_>
struct Plan {
  static constexpr int warps_m = warps_m_, warps_n = warps_n_, tm = tm_, tn = tn_, depth = depth_;
  static constexpr int stages = stages_, split = split_, blocks = blocks_;
  static constexpr int warp_rows = 4 * tm, warp_columns = 8 * tn;
  static constexpr int tile_m = warps_m * warp_rows, tile_n = warps_n * warp_columns;
  static constexpr int warps = warps_m * warps_n, consumers = 32 * warps;
  // registers change hands between whole warpgroups, where a block has the multiprocessor to itself
  static constexpr bool registers_move = blocks == 1;
  static constexpr int producer_warps = registers_move ? 4 : 1;
  static constexpr int threads = consumers + 32 * producer_warps;
  static_assert(!registers_move || warps == 8, "what setmaxnreg hands out is for 8 + 4 warps");
  // a slab of A, transposed and padded, and one of B behind it; in floats
  static constexpr int stride_a = tile_m + 4, floats_a = stride_a * depth;
  static constexpr int floats_b = depth * tile_n, slab = floats_a + floats_b;
  static constexpr int partial_sums = split > 1 ? tile_m* tile_n : 0;
  static constexpr int floats = std::max(stages * slab, partial_sums);
  static constexpr int alignment = 1024;
  static constexpr int bytes = floats * 4 + stages * 2 * sizeof(hopper::Barrier) + alignment;
};

/// Where tiles lie: in bands of rows, down first, so that blocks that run together share panels.
template <class P>
struct Tiles {
  int down, across;

  __device__ explicit Tiles(const MatmulArgs& p)
      : down((p.m + P::tile_m - 1) / P::tile_m), across((p.n + P::tile_n - 1) / P::tile_n) {}

  __device__ void corner(int tile, int& row, int& column) const {
    constexpr int band_rows = 8;
    const int band = tile / (band_rows * across), first = band * band_rows;
    const int height = min(band_rows, down - first), rest = tile - first * across;
    row = (first + rest % height) * P::tile_m;
    column = rest / height * P::tile_n;
  }
};

/// What a block does: tiles from `first` on, each `stride` after the last, and `count` slabs of k
/// from `begin` on.
template <class P>
struct Share {
  int first, stride, begin, count;

  __device__ explicit Share(const MatmulArgs& p)
      : first(blockIdx.x / P::split), stride(gridDim.x / P::split) {
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
                                        const Tiles<P>& tiles, const Share<P>& share, Ring<P> ring,
                                        int warp, int lane) {
  constexpr int rows_at_once = 4 * P::producer_warps, passes = P::tile_m / rows_at_once;
  constexpr int pieces = P::depth / 8;  // of a row
  const int k_lane = lane % 8, row_lane = lane / 8 + warp * 4;
  const unsigned to_a = hopper::shared_address(ring.slabs) + 4 * (k_lane * P::stride_a + row_lane);
  ring.phase = 1;  // all slots are empty
#pragma unroll 1
  for (int tile = share.first; tile < tiles.down * tiles.across; tile += share.stride) {
    int row0, column0;
    tiles.corner(tile, row0, column0);
    const float* from[passes];
#pragma unroll
    for (int i = 0; i < passes; ++i) {
      const std::int64_t row = min(row0 + row_lane + rows_at_once * i, p.m - 1);
      from[i] = p.a + row * p.lda + share.begin * P::depth + k_lane;
    }
#pragma unroll 1
    for (int s = 0; s < share.count; ++s) {
      const int k0 = (share.begin + s) * P::depth;
      hopper::barrier_wait(ring.empty + ring.slot, ring.phase);
      hopper::Barrier* full = ring.full + ring.slot;
      if (lane == 0 && warp == 0) {
        hopper::barrier_expect(full, P::floats_b * 4);
        hopper::load_box(ring.slabs + ring.slot * P::slab + P::floats_a, &map_b, full, column0, k0,
                         0);
      }
      const unsigned to = to_a + ring.slot * P::slab * 4;
      const auto at = [&](int i, int piece) {
        return to + 4 * (i * rows_at_once + piece * 8 * P::stride_a);
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

/// c += a · bᵀ, there and back along the longer side, so that neighbours share an operand in the
/// register cache.
template <int tm, int tn>
__device__ __forceinline__ void multiply(float (&c)[tm][tn], const float (&a)[tm],
                                         const float (&b)[tn]) {
  constexpr int outer = tn > tm ? tn : tm, inner = tn > tm ? tm : tn;
#pragma unroll
  for (int o = 0; o < outer; ++o)
#pragma unroll
    for (int x = 0; x < inner; ++x) {
      const int turned = o % 2 == 1 ? inner - 1 - x : x;
      const int i = tn > tm ? turned : o, j = tn > tm ? o : turned;
      c[i][j] = fmaf(a[i], b[j], c[i][j]);
    }
}

template <int count>
__device__ __forceinline__ void load_fragment(float (&fragment)[count], const float* from,
                                              int stride) {
#pragma unroll
  for (int i = 0; i < count; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + i / 4 * stride);
    fragment[i] = four.x, fragment[i + 1] = four.y;
    fragment[i + 2] = four.z, fragment[i + 3] = four.w;
  }
}

/// Four neighbours of a row of C, of which those left of n exist.
[[maybe_unused]] __device__ __forceinline__ void store_four(const MatmulArgs& p, int row,
                                                            int column, float4 four, bool aligned) {
  if (row >= p.m) return;
  float* to = p.c + row * p.ldc + column;
  if (aligned && column + 3 < p.n) {
    *reinterpret_cast<float4*>(to) = four;
    return;
  }
  if (column < p.n) to[0] = four.x;
  if (column + 1 < p.n) to[1] = four.y;
  if (column + 2 < p.n) to[2] = four.z;
  if (column + 3 < p.n) to[3] = four.w;
}

/// Multiplies; leaves each tile in C or, where k is split, the only one's sums in place of the
/// slabs.
template <class P>
__device__ __forceinline__ void consume(const MatmulArgs& p, const Tiles<P>& tiles,
                                        const Share<P>& share, Ring<P> ring, int warp, int lane,
                                        bool aligned) {
  // lanes 0, 1, 16 and 17 have the same columns: a quarter-warp reads eight different words of four
  const int row_lane = (lane & 1) | (lane >> 4) << 1, column_lane = lane >> 1 & 7;
  int row_in_tile = warp % P::warps_m * P::warp_rows + row_lane * 4;
  int column_in_tile = warp / P::warps_m * P::warp_columns + column_lane * 4;
  // kept in registers: else both are computed again for each slab
  asm("" : "+r"(row_in_tile), "+r"(column_in_tile));
  const float* const a0 = ring.slabs + row_in_tile;
  const float* const b0 = ring.slabs + P::floats_a + column_in_tile;
  const int count = tiles.down * tiles.across;
  const int slabs = (count - share.first + share.stride - 1) / share.stride * share.count;

  float c[P::tm][P::tn] = {};
  float a[2][P::tm], b[2][P::tn];  // what is multiplied, and what is loaded meanwhile
  const auto load = [&](int slot, int k, int into) {
    load_fragment(a[into], a0 + slot * P::slab + k * P::stride_a, 16);
    load_fragment(b[into], b0 + slot * P::slab + k * P::tile_n, 32);
  };
  int done = 0;
  if (slabs > 0) {
    hopper::barrier_wait(ring.full, 0);
    load(0, 0, 0);
  }
#pragma unroll 1
  for (int tile = share.first; tile < count; tile += share.stride) {
#pragma unroll 1
    for (int s = 0; s < share.count; ++s) {
      const int slot = ring.slot;
      ring.advance();
      ++done;
#pragma unroll
      for (int k = 0; k < P::depth; ++k) {
        if (k == P::depth - 1) {
          __syncwarp();
          if (lane == 0) hopper::barrier_arrive(ring.empty + slot);
          if (done < slabs) hopper::barrier_wait(ring.full + ring.slot, ring.phase);
          load(ring.slot, 0, 0);  // behind the last slab these are stale words that none uses
        } else {
          load(slot, k + 1, (k + 1) % 2);
        }
        multiply(c, a[k % 2], b[k % 2]);
      }
    }
    if constexpr (P::split == 1) {
      int row, column;
      tiles.corner(tile, row, column);
      row += row_in_tile, column += column_in_tile;
#pragma unroll
      for (int i = 0; i < P::tm; ++i)
#pragma unroll
        for (int j = 0; j < P::tn; j += 4) {
          store_four(p, row + i % 4 + i / 4 * 16, column + j * 8,
                     make_float4(c[i][j], c[i][j + 1], c[i][j + 2], c[i][j + 3]), aligned);
#pragma unroll
          for (int e = 0; e < 4; ++e) c[i][j + e] = 0;
        }
    }
  }
  if constexpr (P::split > 1) {
    hopper::named_wait(1, P::consumers);  // all have read their last slab
#pragma unroll
    for (int i = 0; i < P::tm; ++i)
#pragma unroll
      for (int j = 0; j < P::tn; j += 4) {
        const int at = (row_in_tile + i % 4 + i / 4 * 16) * P::tile_n + column_in_tile + j * 8;
        *reinterpret_cast<float4*>(ring.slabs + at) =
            make_float4(c[i][j], c[i][j + 1], c[i][j + 2], c[i][j + 3]);
      }
  }
}

/// Adds what the blocks of a cluster have left of their tile, each a share of it, in the order of
/// the blocks.
template <class P>
__device__ __forceinline__ void add_parts(const MatmulArgs& p, const Tiles<P>& tiles,
                                          const Share<P>& share, const float* sums, bool aligned) {
  __syncwarp();
  cluster_arrive();
  cluster_wait();
  int row0, column0;
  tiles.corner(share.first, row0, column0);
  const int rank = blockIdx.x % P::split;
  for (int i = rank * P::threads + threadIdx.x; i < P::tile_m * P::tile_n / 4;
       i += P::split * P::threads) {
    float4 total = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < P::split; ++r) {
      const float4 part = load_at(sums + 4 * i, r);
      total.x += part.x, total.y += part.y, total.z += part.z, total.w += part.w;
    }
    store_four(p, row0 + i / (P::tile_n / 4), column0 + i % (P::tile_n / 4) * 4, total, aligned);
  }
  cluster_arrive();  // no block ends while others read its sums
  cluster_wait();
}

template <class P>
__global__ void __launch_bounds__(P::threads, P::blocks)
    persistent_kernel([[maybe_unused]] const __grid_constant__ CUtensorMap map_b,
                      [[maybe_unused]] MatmulArgs p, [[maybe_unused]] bool aligned) {
#ifdef RECHECK_HOPPER
  extern __shared__ char unaligned[];
  Ring<P> ring;
  ring.slabs = reinterpret_cast<float*>(unaligned +
                                        (-hopper::shared_address(unaligned) & (P::alignment - 1)));
  ring.full = reinterpret_cast<hopper::Barrier*>(ring.slabs + P::floats);
  ring.empty = ring.full + P::stages;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Tiles<P> tiles(p);
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
    produce<P>(map_b, p, tiles, share, ring, warp - P::warps, lane);
  } else {
    if constexpr (P::registers_move) hopper::take_registers<232>();
    consume<P>(p, tiles, share, ring, warp, lane, aligned);
  }
  if constexpr (P::split > 1) add_parts<P>(p, tiles, share, ring.slabs, aligned);
#endif
}

bool starts_on_vectors(const void* base, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(base) % 16 == 0 && ld % 4 == 0;
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
                        .box_columns = P::tile_n,
                        .box_rows = P::depth,
                        .box_planes = 1};
  // the copy engine takes rows that start at multiples of 16 bytes
  if (p.k == 0 || !starts_on_vectors(p.b, p.ldb) || !encode(b, map_b))
    return async_stages<2, 2, 8, 8, 16, 4, 3>(p, stream);
  const auto kernel = persistent_kernel<P>;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, P::bytes) !=
      cudaSuccess)
    return;  // the error stays for the caller's cudaGetLastError
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const int tiles = (p.m + P::tile_m - 1) / P::tile_m * ((p.n + P::tile_n - 1) / P::tile_n);
  const int grid = split > 1 ? tiles * split : std::min(tiles, multiprocessors * blocks);
  launch_clusters<split>(kernel, dim3(grid), P::threads, P::bytes, stream, map_b, p,
                         starts_on_vectors(p.c, p.ldc));
}

template void tma_persistent<4, 2, 8, 16, 16, 5, 1, 1>(const MatmulArgs&, cudaStream_t);
template void tma_persistent<4, 2, 8, 16, 16, 3, 1, 1>(const MatmulArgs&, cudaStream_t);
template void tma_persistent<4, 2, 8, 16, 32, 3, 1, 1>(const MatmulArgs&, cudaStream_t);
template void tma_persistent<2, 2, 8, 4, 16, 5, 2, 3>(const MatmulArgs&, cudaStream_t);
template void tma_persistent<2, 2, 8, 4, 16, 5, 4, 3>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
