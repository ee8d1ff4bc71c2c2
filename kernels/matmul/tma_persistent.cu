// SPDX-License-Identifier: Apache-2.0
//
// Producers and consumers. In async_stages.cu the warps that multiply also fetch, and every slab
// ends in a barrier for all. Here one warpgroup fetches only, registers it does not need go to the
// warps that multiply, and both meet at two mbarriers for each slab: "full" and "empty". The copy
// engine (TMA) brings B; A, which has to stand transposed so that a fragment is one load of four
// words, comes word by word with cp.async, which arrives at the same barrier. The grid is
// persistent: a block per multiprocessor takes tile after tile in bands that L2 serves. With few
// tiles a cluster of blocks shares k, and adds its parts in a fixed order through distributed
// shared memory. Source: warp specialisation as in CUTLASS's Hopper kernels, for FFMA and with a
// row-major A.

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "../hopper.cuh"
#include "../tensor_map.hpp"
#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

namespace hp = hopper;

/// c += a·bᵀ, row by row there and back, so that neighbours share an operand in the reuse cache;
/// by columns if `by_columns`.
template <bool by_columns, int tm, int tn>
__device__ __forceinline__ void outer(float (&c)[tm][tn], const float (&a)[tm],
                                      const float (&b)[tn]) {
  if constexpr (by_columns) {
#pragma unroll
    for (int j = 0; j < tn; ++j)
#pragma unroll
      for (int i = 0; i < tm; ++i) {
        const int ii = j & 1 ? tm - 1 - i : i;
        c[ii][j] = fmaf(a[ii], b[j], c[ii][j]);
      }
  } else {
#pragma unroll
    for (int i = 0; i < tm; ++i)
#pragma unroll
      for (int j = 0; j < tn; ++j) {
        const int jj = i & 1 ? tn - 1 - j : j;
        c[i][jj] = fmaf(a[i], b[jj], c[i][jj]);
      }
  }
}

template <int warps_m_, int warps_n_, int tm_, int tn_, int bk_, int stages_, int split_,
          int blocks_>
struct Spec {
  static constexpr int warps_m = warps_m_, warps_n = warps_n_, tm = tm_, tn = tn_, stages = stages_,
                       split = split_, blocks = blocks_, bk = bk_;
  static constexpr int wm = 4 * tm, wn = 8 * tn, bm = warps_m * wm, bn = warps_n * wn, lda = bm + 4;
  static constexpr int warps = warps_m * warps_n, consumers = 32 * warps,
                       producers = blocks == 1 ? 4 : 1, threads = consumers + 32 * producers;
  static constexpr int a_floats = lda * bk, b_floats = bk * bn, stage = a_floats + b_floats;
  static constexpr int partial = split > 1 ? bm* bn : 0;
  static constexpr int floats = stages * stage > partial ? stages* stage : partial;
  static constexpr int bytes = floats * 4 + stages * 16 + 1024;
};

template <class P>
__global__ void __launch_bounds__(P::threads, P::blocks)
    spec_kernel(const __grid_constant__ CUtensorMap map_b, MatmulArgs p, bool vec) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ char raw[];
  float* shared = reinterpret_cast<float*>(raw + (1024 - hp::shared_address(raw) % 1024) % 1024);
  hp::Barrier* full = reinterpret_cast<hp::Barrier*>(shared + P::floats);
  hp::Barrier* empty = full + P::stages;
  const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const int tiles_m = (p.m + P::bm - 1) / P::bm, tiles_n = (p.n + P::bn - 1) / P::bn,
            tiles = tiles_m * tiles_n;
  const int slabs = (p.k + P::bk - 1) / P::bk;
  const int rank = P::split > 1 ? blockIdx.x % P::split : 0;
  const int begin = P::split > 1 ? slabs * rank / P::split : 0;
  const int n = (P::split > 1 ? slabs * (rank + 1) / P::split : slabs) - begin;
  const int first_tile = blockIdx.x / P::split, stride = gridDim.x / P::split;
  const int mine = (tiles - first_tile + stride - 1) / stride;
  const int total = mine * n;

  auto place = [&](int tile, int& row0, int& col0) {
    constexpr int group = 8;
    const int per = group * tiles_n, g = tile / per, rows = min(group, tiles_m - g * group),
              in = tile - g * per;
    row0 = (g * group + in % rows) * P::bm;
    col0 = in / rows * P::bn;
  };

  if (tid == 0) {
    for (int s = 0; s < P::stages; ++s) {
      hp::barrier_init(full + s, 32 * P::producers + 1);
      hp::barrier_init(empty + s, P::warps);
    }
    hp::barrier_init_done();
  }
  __syncthreads();

  if (warp >= P::warps) {  // the producers
    if constexpr (P::producers == 4)
      hp::release_registers<P::warps == 8 ? 40 : P::warps == 12 ? 56 : 32>();
    constexpr int step = 4 * P::producers, passes = P::bm / step, halves = P::bk / 8;
    const int ak = lane % 8, ar = lane / 8 + (warp - P::warps) * 4;
    const unsigned a_dst = hp::shared_address(shared) + 4 * (ak * P::lda + ar);
    int slot = 0, phase = 1;
#pragma unroll 1
    for (int tile = first_tile; tile < tiles; tile += stride) {
      int row0, col0;
      place(tile, row0, col0);
      const float* src[passes];
#pragma unroll
      for (int i = 0; i < passes; ++i)
        src[i] =
            p.a + (std::int64_t)min(row0 + ar + step * i, p.m - 1) * p.lda + begin * P::bk + ak;
#pragma unroll 1
      for (int kt = 0; kt < n; ++kt) {
        const int k0 = (begin + kt) * P::bk;
        hp::barrier_wait(empty + slot, phase);
        if (lane == 0 && warp == P::warps) {
          hp::barrier_expect(full + slot, P::b_floats * 4);
          hp::load_box(shared + slot * P::stage + P::a_floats, &map_b, full + slot, col0, k0, 0);
        }
        const unsigned dst = a_dst + slot * P::stage * 4;
        if (k0 + P::bk <= p.k) {
#pragma unroll
          for (int i = 0; i < passes; ++i) {
#pragma unroll
            for (int q = 0; q < halves; ++q)
              asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                               dst + 4 * (i * step + q * 8 * P::lda)),
                           "l"(src[i] + 8 * q)
                           : "memory");
          }
#pragma unroll
          for (int i = 0; i < passes; ++i) src[i] += P::bk;
        } else {
#pragma unroll
          for (int i = 0; i < passes; ++i)
#pragma unroll
            for (int q = 0; q < halves; ++q) {
              const bool in = k0 + ak + 8 * q < p.k;
              asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                               dst + 4 * (i * step + q * 8 * P::lda)),
                           "l"(in ? src[i] + 8 * q : p.a), "r"(in ? 4 : 0)
                           : "memory");
            }
        }
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(
                         hp::shared_address(full + slot))
                     : "memory");
        if (++slot == P::stages) slot = 0, phase ^= 1;
      }
    }
  } else {
    if constexpr (P::producers == 4)
      hp::take_registers<P::warps == 8 ? 232 : P::warps == 12 ? 152 : 112>();
    const int lr = (lane & 1) | (lane >> 4) << 1, lc = lane >> 1 & 7;
    const int wr = warp % P::warps_m * P::wm, wc = warp / P::warps_m * P::wn;
    const float* a0 = shared + wr + lr * 4;
    const float* b0 = shared + P::a_floats + wc + lc * 4;

    float c[P::tm][P::tn] = {};
    float a[2][P::tm], b[2][P::tn];
    auto load_a = [&](int slot, int kk, int f) {
#pragma unroll
      for (int i = 0; i < P::tm; i += 4) {
        const float4 v =
            *reinterpret_cast<const float4*>(a0 + slot * P::stage + kk * P::lda + i * 4);
        a[f][i] = v.x, a[f][i + 1] = v.y, a[f][i + 2] = v.z, a[f][i + 3] = v.w;
      }
    };
    auto load_b = [&](int slot, int kk, int f) {
#pragma unroll
      for (int j = 0; j < P::tn; j += 4) {
        const float4 v =
            *reinterpret_cast<const float4*>(b0 + slot * P::stage + kk * P::bn + j * 8);
        b[f][j] = v.x, b[f][j + 1] = v.y, b[f][j + 2] = v.z, b[f][j + 3] = v.w;
      }
    };

    int slot = 0, phase = 0, it = 0;
    if (total > 0) {
      hp::barrier_wait(full, 0);
      load_a(0, 0, 0);
      load_b(0, 0, 0);
    }
#pragma unroll 1
    for (int tile = first_tile; tile < tiles; tile += stride) {
#pragma unroll 1
      for (int kt = 0; kt < n; ++kt) {
        int next = slot + 1, next_phase = phase;
        if (next == P::stages) next = 0, next_phase ^= 1;
        ++it;
#pragma unroll
        for (int kk = 0; kk < P::bk; ++kk) {
          if (kk == P::bk - 1) {
            __syncwarp();
            if (lane == 0) hp::barrier_arrive(empty + slot);
            if (it < total) hp::barrier_wait(full + next, next_phase);
            // the last slab's look-ahead reads stale words and uses none
            load_a(next, 0, 0);
            load_b(next, 0, 0);
          } else {
            load_a(slot, kk + 1, (kk + 1) & 1);
            load_b(slot, kk + 1, (kk + 1) & 1);
          }
          outer<(P::tn > P::tm)>(c, a[kk & 1], b[kk & 1]);
        }
        slot = next, phase = next_phase;
      }
      if (P::split == 1) {
        int row0, col0;
        place(tile, row0, col0);
#pragma unroll
        for (int g = 0; g < P::tm; ++g) {
          const int row = row0 + wr + lr * 4 + g % 4 + g / 4 * 16;
          const int col1 = col0 + wc + lc * 4;
          float* out = p.c + row * p.ldc + col1;
#pragma unroll
          for (int j = 0; j < P::tn; j += 4) {
            const int col = col1 + j * 8;
            if (row < p.m) {
              if (vec && col + 3 < p.n)
                *reinterpret_cast<float4*>(out + j * 8) =
                    make_float4(c[g][j], c[g][j + 1], c[g][j + 2], c[g][j + 3]);
              else
#pragma unroll
                for (int e = 0; e < 4; ++e)
                  if (col + e < p.n) out[j * 8 + e] = c[g][j + e];
            }
#pragma unroll
            for (int e = 0; e < 4; ++e) c[g][j + e] = 0;
          }
        }
      }
    }
    if constexpr (P::split > 1) {
      asm volatile("bar.sync 1, %0;" ::"n"(P::consumers)
                   : "memory");  // all slabs have been read: their place takes the partial sums
#pragma unroll
      for (int g = 0; g < P::tm; ++g)
#pragma unroll
        for (int j = 0; j < P::tn; j += 4)
          *reinterpret_cast<float4*>(shared + (wr + lr * 4 + g % 4 + g / 4 * 16) * P::bn + wc +
                                     lc * 4 + j * 8) =
              make_float4(c[g][j], c[g][j + 1], c[g][j + 2], c[g][j + 3]);
    }
  }
  if constexpr (P::split > 1) {
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
    int row0, col0;
    place(first_tile, row0, col0);
    for (int i = rank * P::threads + tid; i < P::bm * P::bn / 4; i += P::split * P::threads) {
      const int r = i / (P::bn / 4), cc = i % (P::bn / 4) * 4;
      float4 sum = {0, 0, 0, 0};
#pragma unroll
      for (int o = 0; o < P::split; ++o) {
        float4 v;
        unsigned remote;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                     : "=r"(remote)
                     : "r"(hp::shared_address(shared + 4 * i)), "r"(o));
        asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                     : "r"(remote)
                     : "memory");
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
      }
      const int row = row0 + r, col = col0 + cc;
      float* out = p.c + row * p.ldc + col;
      if (row < p.m) {
        if (vec && col + 3 < p.n)
          *reinterpret_cast<float4*>(out) = sum;
        else {
          if (col < p.n) out[0] = sum.x;
          if (col + 1 < p.n) out[1] = sum.y;
          if (col + 2 < p.n) out[2] = sum.z;
          if (col + 3 < p.n) out[3] = sum.w;
        }
      }
    }
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
  }
#endif
}

bool aligned(const void* base, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(base) % 16 == 0 && ld % 4 == 0;
}

}  // namespace

template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int split, int blocks>
void tma_persistent(const MatmulArgs& p, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return;
  using P = Spec<warps_m, warps_n, tm, tn, depth, stages, split, blocks>;
  CUtensorMap b;
  const TensorSpec spec = {
      CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, p.b, p.n, p.k, 1, p.ldb, p.ldb * p.k, P::bn, P::bk, 1};
  // the copy engine takes rows that start at multiples of 16 bytes
  if (p.k == 0 || !aligned(p.b, p.ldb) || !encode(spec, b))
    return async_stages<2, 2, 8, 8, 16, 4, 3>(p, stream);
  const auto kernel = spec_kernel<P>;
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, P::bytes) !=
      cudaSuccess)
    return;  // the error stays for the caller's cudaGetLastError
  int device = 0, sms = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  const int tiles = ((p.m + P::bm - 1) / P::bm) * ((p.n + P::bn - 1) / P::bn);
  cudaLaunchConfig_t config = {};
  config.gridDim = split > 1 ? tiles * split : std::min(tiles, sms * blocks);
  config.blockDim = P::threads;
  config.dynamicSmemBytes = P::bytes;
  config.stream = stream;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = split, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = split > 1;
  cudaLaunchKernelEx(&config, kernel, b, p, aligned(p.c, p.ldc));
}

template void tma_persistent<4, 2, 8, 16, 16, 5, 1, 1>(const MatmulArgs&, cudaStream_t);
template void tma_persistent<2, 2, 8, 4, 16, 5, 2, 3>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
