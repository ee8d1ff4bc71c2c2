// SPDX-License-Identifier: Apache-2.0
//
// A tile for every warp. In vectorized.cu the 32 threads of a warp are half a row of the block's
// threads: together they read 2 different groups of A and 16 of B. Here a warp owns a compact part
// of the tile, 4×8 lanes, and reads 4 and 8. Lanes are numbered so that each 16-byte load takes 2
// wavefronts of shared memory rather than 4. A step's fragments are loaded while the previous step
// is multiplied, so that nothing waits for shared memory. Source: CUTLASS, "Efficient GEMM in
// CUDA", warp-level tiles (Kerr et al., 2017).

#include "warp_tile.cuh"

namespace recheck::kernels::matmul {
namespace {

template <typename T, int blocks, bool vectors>
__global__ void __launch_bounds__(T::threads, blocks) warp_tile_kernel(MatmulArgs p) {
  __shared__ alignas(16) float slab[T::slab_floats];
  const Place tile = place_of_tile<T>(p, blockIdx.x);
  const Place mine = place_in_tile<T>(threadIdx.x / 32, threadIdx.x % 32);

  Outputs<T> outputs;
  multiply<T, vectors>(p, tile, mine, slab, outputs);
  outputs.store(p, vectors, tile.row + mine.row, tile.column + mine.column);
}

}  // namespace

template <int warps_m, int warps_n, int depth>
void warp_tile(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  using T = WarpTiles<warps_m, warps_n, 8, 8, depth>;
  constexpr int blocks = 2;
  const bool vectors = all_on_vectors(args);
  const auto kernel =
      vectors ? warp_tile_kernel<T, blocks, true> : warp_tile_kernel<T, blocks, false>;
  kernel<<<tiles<T>(args), T::threads, 0, stream>>>(args);
}

template void warp_tile<4, 2, 16>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
