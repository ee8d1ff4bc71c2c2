// SPDX-License-Identifier: Apache-2.0
//
// Blocks share k. A product with few outputs has few tiles: one of 16×16×1000000 keeps a single
// multiprocessor busy, however many there are. Here k is cut into equal stretches until there are
// about `blocks` blocks, each of which multiplies its stretch as warp_tile.cu does and leaves its
// sums in a workspace; a second kernel adds the stretches in their order, so that every run leaves
// the same bits. How many there are depends on the shape alone. stream_k.cu does better where tiles
// and blocks are about as many, but on Hopper alone. Source: "split-K", as in CUTLASS, "Efficient
// GEMM in CUDA" (Kerr et al., 2017), "parallelized reductions".

#include "warp_tile.cuh"

namespace recheck::kernels::matmul {
namespace {

/// The products of all stretches as they stand in the workspace, one behind another.
struct Parts {
  float* data;            // null: one stretch, straight to C
  std::int64_t ld, size;  // floats of a row, on 16 bytes, and of a product
};

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
  if (parts.data != nullptr) {
    p.c = parts.data + blockIdx.y * parts.size;
    p.ldc = parts.ld;
  }
  Outputs<T> outputs;
  multiply<T, vectors>(p, tile, mine, slab, outputs);
  outputs.store(p, vectors || parts.data != nullptr, tile.row + mine.row,
                tile.column + mine.column);
}

constexpr int across = 32, helpers = 8;  // outputs of a block; threads that share an output

/// C, each output a sum over `count` stretches: each helper adds every eighth of them, the first
/// one what the helpers have.
__global__ void __launch_bounds__(across* helpers)
    add_stretches_kernel(MatmulArgs p, Parts parts, int count) {
  __shared__ float sums[helpers][across];
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * across + threadIdx.x;
  const std::int64_t row = i / p.n, column = i % p.n;
  const bool inside = row < p.m;
  float sum = 0;
  if (inside) {
    const float* from = parts.data + row * parts.ld + column;
#pragma unroll 4
    for (int s = threadIdx.y; s < count; s += helpers) sum += from[s * parts.size];
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || !inside) return;
#pragma unroll
  for (int h = 1; h < helpers; ++h) sum += sums[h][threadIdx.x];
  p.c[row * p.ldc + column] = sum;
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
  const std::int64_t outputs = static_cast<std::int64_t>(args.m) * args.n;
  const std::int64_t ld = padded_row(args.n);
  const Parts parts = {k.count > 1 ? queue.workspace : nullptr, ld, args.m * ld};
  kernel<<<grid, T::threads, 0, queue.stream>>>(args, k.length, parts);
  if (k.count > 1)
    add_stretches_kernel<<<static_cast<unsigned>((outputs + across - 1) / across),
                           dim3(across, helpers), 0, queue.stream>>>(args, parts, k.count);
}

template void k_stretches<1, 1, 4, 4, 2048>(const MatmulArgs&, const Queue&);
template void k_stretches<2, 2, 8, 8, 384>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
