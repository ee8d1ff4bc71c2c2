// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies. A block of warp_tile.cu copies a slab, then multiplies it, one after the
// other. Here `stages` slabs are in shared memory: while the oldest is multiplied, cp.async copies
// the slab `stages` - 1 ahead from global to shared memory without using registers. One barrier per
// slab remains. Right after it, the first fragments of the next slab are loaded while the last ones
// of this slab are multiplied. A is transposed on the way, one word per copy. Source: CUDA
// Programming Guide, "Asynchronous data copies"; CUTLASS's multistage mainloop.
//
// Nothing in the loop over k is predicated. Rows and columns outside wrap around to the first ones,
// and their outputs are not stored. If they were clamped to the last one instead, the lanes of a
// warp would copy one word to many places, in as many passes. If k does not fill all slabs, the
// first one is padded with zeros.

#include "../../launch.hpp"
#include "../cp_async.cuh"
#include "warp_tile.cuh"

namespace recheck::kernels::matmul {
namespace {

template <typename T, int stages, int blocks, bool vectors>
__global__ void __launch_bounds__(T::threads, blocks) async_stages_kernel(MatmulArgs p) {
  extern __shared__ float4 shared[];
  float* slabs = reinterpret_cast<float*>(shared);
  const Place tile = place_of_tile<T>(p, blockIdx.x);
  const Place mine = place_in_tile<T>(threadIdx.x / 32, threadIdx.x % 32);

  // A: a warp copies 8 words along k of each of 4 rows, which land in 32 different banks
  constexpr int a_rows = T::threads / 8, a_passes = T::rows / a_rows;
  const int ak = threadIdx.x % 8, ar = threadIdx.x / 8;
  const float* a[a_passes];
#pragma unroll
  for (int i = 0; i < a_passes; ++i) a[i] = p.a + (tile.row + ar + i * a_rows) % p.m * p.lda + ak;
  // B: whole rows, 4 words or 1 at a time
  constexpr int width = vectors ? 4 : 1, across = T::columns / width;
  constexpr int b_rows = T::threads / across ? T::threads / across : 1;
  constexpr int b_columns = T::threads / across ? 1 : across / T::threads;
  const int bk = threadIdx.x / across, bc = threadIdx.x % across * width;
  const float* b[b_columns];
#pragma unroll
  for (int i = 0; i < b_columns; ++i)
    b[i] = p.b + bk * p.ldb + (tile.column + bc + i * T::threads * width) % p.n;

  const int count = (p.k + T::depth - 1) / T::depth;
  // starts the copies of slab s; the first slab may be only `deep` < depth words deep
  const auto start = [&](int s, int slot, int deep) {
    float* as = slabs + slot * T::slab_floats + ak * T::a_pitch + ar;
    float* bs = slabs + slot * T::slab_floats + T::a_floats + bk * T::columns + bc;
    if (s < count) {
#pragma unroll
      for (int i = 0; i < a_passes; ++i) {
#pragma unroll
        for (int e = 0; e < T::depth; e += 8) {
          const bool inside = deep == T::depth || ak + e < deep;
          cp_async<4>(as + i * a_rows + e * T::a_pitch, inside ? a[i] + e : p.a, inside);
        }
        a[i] += deep;
      }
#pragma unroll
      for (int e = 0; e < T::depth; e += b_rows) {
        const bool inside = deep == T::depth || bk + e < deep;
#pragma unroll
        for (int i = 0; i < b_columns; ++i)
          cp_async<4 * width>(bs + e * T::columns + i * T::threads * width,
                              inside ? b[i] + e * p.ldb : p.b, inside);
      }
#pragma unroll
      for (int i = 0; i < b_columns; ++i) b[i] += deep * p.ldb;
    }
    cp_async_commit_group();  // an empty group as well: wait_group counts one per slab
  };

  Outputs<T> outputs;
  if (count > 0) {
    Fragment<T> fragment[2];
    start(0, 0, p.k - (count - 1) * T::depth);
#pragma unroll
    for (int s = 1; s < stages - 1; ++s) start(s, s, T::depth);
    cp_async_wait_group<stages - 2>();
    __syncthreads();
    fragment[0].load(slabs, mine, 0);
    int slot = 0;
#pragma unroll 1
    for (int s = 0; s < count; ++s) {
      const int next = slot == stages - 1 ? 0 : slot + 1;
#pragma unroll
      for (int e = 0; e < T::depth; ++e) {
        if (e + 1 < T::depth) {
          fragment[(e + 1) % 2].load(slabs + slot * T::slab_floats, mine, e + 1);
        } else {
          cp_async_wait_group<stages - 2>();
          __syncthreads();  // the next slab is complete, and all threads have read this one
          fragment[0].load(slabs + next * T::slab_floats, mine, 0);
        }
        if (e == 0) start(s + stages - 1, slot == 0 ? stages - 1 : slot - 1, T::depth);
        outputs.add(fragment[e % 2]);
      }
      slot = next;
    }
  }
  outputs.store(p, vectors, tile.row + mine.row, tile.column + mine.column);
}

}  // namespace

template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int blocks>
void async_stages(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  using T = WarpTiles<warps_m, warps_n, tm, tn, depth>;
  constexpr int bytes = stages * T::slab_floats * static_cast<int>(sizeof(float));
  const bool vectors =
      args.n % 4 == 0 && on_vectors(args.b, args.ldb) && on_vectors(args.c, args.ldc);
  const auto kernel = vectors ? async_stages_kernel<T, stages, blocks, true>
                              : async_stages_kernel<T, stages, blocks, false>;
  if (allow_shared(kernel, bytes)) kernel<<<tiles<T>(args), T::threads, bytes, stream>>>(args);
}

template void async_stages<2, 2, 8, 8, 16, 4, 3>(const MatmulArgs&, cudaStream_t);
template void async_stages<4, 2, 8, 8, 16, 4, 2>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
