// SPDX-License-Identifier: Apache-2.0
//
// A tile for every warp. In vectorized.cu the 32 threads of a warp are half a row of the block's
// threads: together they read 2 different groups of A and 16 of B. Here a warp owns a compact part
// of the tile, 4×8 lanes, and reads 4 and 8, with lanes numbered so that each 16-byte load takes 2
// wavefronts of shared memory rather than 4; and a step's fragments are loaded while the step
// before is multiplied, so that nothing waits for shared memory. Source: CUTLASS, "Efficient GEMM
// in CUDA", warp-level tiles (Kerr et al., 2017).

#include "warp_tile.cuh"

namespace recheck::kernels::matmul {
namespace {

template <typename T, int blocks, bool vectors>
__global__ void __launch_bounds__(T::threads, blocks) warp_tile_kernel(MatmulArgs p) {
  __shared__ alignas(16) float slab[T::slab_floats];
  const Place tile = place_of_tile<T>(p, blockIdx.x);
  const Place mine = place_in_tile<T>(threadIdx.x / 32, threadIdx.x % 32);

  Outputs<T> outputs;
  for (int k0 = 0; k0 < p.k; k0 += T::depth) {
    // as in vectorized.cu: four words along k of A, stored transposed, four along n of B
#pragma unroll
    for (int i = threadIdx.x; i < T::rows * T::depth / 4; i += T::threads) {
      const int r = i / (T::depth / 4), e = i % (T::depth / 4) * 4, row = tile.row + r;
      const float* from = p.a + row * p.lda + k0 + e;
      float4 v = {0, 0, 0, 0};
      if (row < p.m) {
        if constexpr (vectors) {
          if (k0 + e < p.k) v = *reinterpret_cast<const float4*>(from);
        } else {
          if (k0 + e < p.k) v.x = from[0];
          if (k0 + e + 1 < p.k) v.y = from[1];
          if (k0 + e + 2 < p.k) v.z = from[2];
          if (k0 + e + 3 < p.k) v.w = from[3];
        }
      }
      float* to = slab + e * T::a_pitch + r;
      to[0] = v.x, to[T::a_pitch] = v.y, to[2 * T::a_pitch] = v.z, to[3 * T::a_pitch] = v.w;
    }
    constexpr int width = vectors ? 4 : 1;
#pragma unroll
    for (int i = threadIdx.x; i < T::depth * T::columns / width; i += T::threads) {
      const int e = i / (T::columns / width), c = i % (T::columns / width) * width;
      const bool inside = k0 + e < p.k && tile.column + c < p.n;
      const float* from = p.b + (k0 + e) * p.ldb + tile.column + c;
      float* to = slab + T::a_floats + e * T::columns + c;
      if constexpr (vectors)
        *reinterpret_cast<float4*>(to) =
            inside ? *reinterpret_cast<const float4*>(from) : make_float4(0, 0, 0, 0);
      else
        *to = inside ? *from : 0.0f;
    }
    __syncthreads();

    Fragment<T> fragment[2];
    fragment[0].load(slab, mine, 0);
#pragma unroll
    for (int e = 0; e < T::depth; ++e) {
      if (e + 1 < T::depth) fragment[(e + 1) % 2].load(slab, mine, e + 1);
      outputs.add(fragment[e % 2]);
    }
    __syncthreads();
  }
  outputs.store(p, vectors, tile.row + mine.row, tile.column + mine.column);
}

}  // namespace

template <int warps_m, int warps_n, int depth>
void warp_tile(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  using T = WarpTiles<warps_m, warps_n, 8, 8, depth>;
  constexpr int blocks = T::threads == 256 ? 2 : 3;  // as many as 16 or 12 warps
  const bool vectors = args.n % 4 == 0 && args.k % 4 == 0 && on_vectors(args.a, args.lda) &&
                       on_vectors(args.b, args.ldb) && on_vectors(args.c, args.ldc);
  const auto kernel =
      vectors ? warp_tile_kernel<T, blocks, true> : warp_tile_kernel<T, blocks, false>;
  kernel<<<tiles<T>(args), T::threads, 0, stream>>>(args);
}

template void warp_tile<2, 2, 16>(const MatmulArgs&, cudaStream_t);
template void warp_tile<4, 2, 8>(const MatmulArgs&, cudaStream_t);
template void warp_tile<4, 2, 16>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
