// SPDX-License-Identifier: Apache-2.0
//
// Shared-memory tiles: a block of tile×tile threads computes one tile of C. It walks along k in
// phases. In each, the threads together stage a slab of A and a slab of B, so that an element read
// once from global memory serves tile threads: loads from global memory fall to 1/tile. One barrier
// completes the slabs, and a second one ends their use. Sources: S0 section 2 (A07), S1
// matrix_kernel_1 (A04), S2 second MatMulKernel (A06).
//
// depth is from S0's section 4 (A08): slabs of depth tiles, MD (tile, depth·tile) and ND
// (depth·tile, tile). Each thread stages depth elements of each. Barriers per multiply-add fall to
// 1/depth; loads per multiply-add do not change. Rows of A's slab are depth·tile words apart
// without padding, as in the document: at tile 16 the two rows that a warp reads share a bank from
// depth 2 on.

#include "../launch.hpp"
#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

template <int tile, int depth>
__global__ void __launch_bounds__(tile* tile) tile_kernel(MatmulArgs p) {
  constexpr int slab = tile * depth;  // how far one phase goes along k
  extern __shared__ float shared[];
  float(*as)[slab] = reinterpret_cast<float(*)[slab]>(shared);                // (tile, slab)
  float(*bs)[tile] = reinterpret_cast<float(*)[tile]>(shared + tile * slab);  // (slab, tile)

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty;
  const int col = blockIdx.x * tile + tx;
  const float* a = p.a + row * p.lda;  // (k)
  const float* b = p.b + col;          // (k), stride ldb

  float sum = 0;
  for (int k0 = 0; k0 < p.k; k0 += slab) {
    // outside the matrices the slabs hold zeros: they add nothing, and every thread reaches the
    // barriers
    for (int d = 0; d < depth; ++d) {
      const int ka = k0 + d * tile + tx, kb = k0 + d * tile + ty;
      as[ty][d * tile + tx] = row < p.m && ka < p.k ? a[ka] : 0.0f;
      bs[d * tile + ty][tx] = col < p.n && kb < p.k ? b[kb * p.ldb] : 0.0f;
    }
    __syncthreads();  // the slabs are whole

    for (int e = 0; e < slab; ++e) sum += as[ty][e] * bs[e][tx];
    __syncthreads();  // the next phase may overwrite the slabs
  }
  if (row < p.m && col < p.n) p.c[row * p.ldc + col] = sum;
}

}  // namespace

template <int tile_size, int depth>
void tile(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  constexpr int bytes = static_cast<int>(tile_shared_bytes(tile_size, depth));
  if (!allow_shared(tile_kernel<tile_size, depth>, bytes)) return;
  const dim3 grid((args.n + tile_size - 1) / tile_size, (args.m + tile_size - 1) / tile_size);
  tile_kernel<tile_size, depth><<<grid, dim3(tile_size, tile_size), bytes, stream>>>(args);
}

template void tile<8, 1>(const MatmulArgs&, cudaStream_t);
template void tile<8, 2>(const MatmulArgs&, cudaStream_t);
template void tile<8, 4>(const MatmulArgs&, cudaStream_t);
template void tile<8, 8>(const MatmulArgs&, cudaStream_t);
template void tile<16, 1>(const MatmulArgs&, cudaStream_t);
template void tile<16, 2>(const MatmulArgs&, cudaStream_t);
template void tile<16, 4>(const MatmulArgs&, cudaStream_t);
template void tile<16, 8>(const MatmulArgs&, cudaStream_t);
template void tile<32, 1>(const MatmulArgs&, cudaStream_t);
template void tile<32, 2>(const MatmulArgs&, cudaStream_t);
template void tile<32, 4>(const MatmulArgs&, cudaStream_t);
template void tile<32, 8>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
