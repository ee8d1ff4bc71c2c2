// SPDX-License-Identifier: Apache-2.0
//
// Blocks share k. A product with few outputs has few tiles: one of 16×16×1000000 keeps a single
// multiprocessor busy, however many there are. Here k is cut into equal stretches until there are
// about `blocks` blocks, each of which multiplies its stretch as warp_tile.cu does and leaves its
// sums in a workspace; a second kernel, on Hopper launched while the first one works, adds the
// stretches in a fixed order, so that every run leaves the same bits. How many there are depends on
// the shape alone. stream_k.cu does better where tiles and blocks are about as many, but on Hopper
// alone. Source: "split-K", as in CUTLASS, "Efficient GEMM in CUDA" (Kerr et al., 2017),
// "parallelized reductions".

#include "parts.cuh"
#include "warp_tile.cuh"

namespace recheck::kernels::matmul {
namespace {

template <typename T>
constexpr int resident = T::warps == 1 ? 16 : 3;  // blocks of a multiprocessor

template <typename T, bool vectors>
__global__ void __launch_bounds__(T::threads, resident<T>)
    k_stretches_kernel(MatmulArgs p, int stretch, Parts parts) {
  __shared__ alignas(16) float slab[T::slab_floats];
  const Place tile = place_of_tile<T>(p, blockIdx.x);
  const Place mine = place_in_tile<T>(threadIdx.x / 32, threadIdx.x % 32);

  const int begin = blockIdx.y * stretch;
  p.a += begin;
  p.b += begin * p.ldb;
  p.k = min(stretch, p.k - begin);
  if (parts.data != nullptr) hopper::griddepcontrol_launch_dependents();  // what adds them
  parts.take_place_of_c(p, blockIdx.y);
  Outputs<T> outputs;
  multiply<T, vectors>(p, tile, mine, slab, outputs);
  outputs.store(p, vectors || parts.data != nullptr, tile.row + mine.row,
                tile.column + mine.column);
}

}  // namespace

template <int warps_m, int warps_n, int tm, int tn, int blocks>
void k_stretches(const MatmulArgs& args, const Queue& queue) {
  if (args.m == 0 || args.n == 0) return;
  using T = WarpTiles<warps_m, warps_n, tm, tn, k_stretches_depth>;
  const int count = tiles<T>(args);
  const Stretches k = stretches_of_k(count, args.k, blocks);
  const bool vectors = all_on_vectors(args);
  const auto kernel = vectors ? k_stretches_kernel<T, true> : k_stretches_kernel<T, false>;
  const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>(k.count));
  const Parts parts = parts_of(args, k.count, queue.workspace);
  kernel<<<grid, T::threads, 0, queue.stream>>>(args, k.length, parts);
  add_stretches(args, parts, k.count, queue.stream);
}

template void k_stretches<1, 1, 4, 4, 2048>(const MatmulArgs&, const Queue&);
template void k_stretches<2, 2, 8, 8, 384>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
