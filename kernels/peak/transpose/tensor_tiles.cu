// SPDX-License-Identifier: Apache-2.0
//
// TMA moves the tiles: one block per multiprocessor keeps `stages` tiles of 64×64 in shared memory.
// Each is loaded by one instruction, transposed in place through registers, and stored by another
// instruction, while the copies of the other tiles are in flight. No thread computes global
// addresses. No swizzle is needed: eight threads that take 4×4 blocks along a diagonal have no bank
// conflicts, neither reading rows nor writing columns. TMA writes whole pieces of 16 bytes, so
// out's rows have to end with one. Source: PTX ISA, cp.async.bulk.tensor; simveit's
// effective_transpose, which swizzles.

#include <algorithm>

#include "../../launch.hpp"
#include "../hopper.cuh"
#include "../tensor_map.hpp"
#include "wide.cuh"

namespace recheck::kernels::transpose {
namespace {

constexpr int size = 64, threads = 256;
constexpr unsigned tile_bytes = size * size * sizeof(float);
constexpr int storing = 2;  // TMA stores that may be in flight when the next load is issued

template <int stages>
__global__ void __launch_bounds__(threads, 1)
    tensor_tiles_kernel(const __grid_constant__ CUtensorMap in,
                        const __grid_constant__ CUtensorMap out, unsigned tiles_down,
                        unsigned tiles) {
  extern __shared__ __align__(128) Piece<4> tile[];  // stages × 64 rows × 16 pieces
  __shared__ hopper::Mbarrier full[stages];
  constexpr int lanes = size / 4, pieces = size * lanes;
  const unsigned tid = threadIdx.x;
  const auto x_of = [&](unsigned t) { return static_cast<int>(t / tiles_down) * size; };
  const auto y_of = [&](unsigned t) { return static_cast<int>(t % tiles_down) * size; };
  const auto load = [&](unsigned step) {  // the block's tile of that number
    const std::uint64_t t = blockIdx.x + std::uint64_t{step} * gridDim.x;
    if (t >= tiles) return;
    const unsigned stage = step % stages, number = static_cast<unsigned>(t);
    hopper::mbarrier_arrive_expect_tx(&full[stage], tile_bytes);
    hopper::cp_async_bulk_tensor_3d_global_to_shared(tile + stage * pieces, &in, x_of(number),
                                                     y_of(number), 0, &full[stage]);
  };
  if (tid == 0) {
    for (int i = 0; i < stages; ++i) hopper::mbarrier_init(&full[i], 1);
    hopper::fence_mbarrier_init();
    for (int i = 0; i < stages; ++i) load(i);
  }
  __syncthreads();

  // 64 threads take 8×8 blocks of 4×4; of every eight threads each takes another column and row
  const unsigned x = tid / 64 % 2 * 8 + tid % 8, y = tid / 128 * 8 + (tid / 8 + tid) % 8;
  unsigned step = 0;
  for (std::uint64_t t = blockIdx.x; t < tiles; t += gridDim.x, ++step) {
    const unsigned stage = step % stages;
    Piece<4>* here = tile + stage * pieces;
    hopper::mbarrier_wait_parity(&full[stage], step / stages % 2);
    Piece<4> rows[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) rows[k] = here[(4 * y + k) * lanes + x];
    __syncthreads();  // the tile is in registers
#pragma unroll
    for (int k = 0; k < 4; ++k)
      here[(4 * x + k) * lanes + y] = {rows[0].at[k], rows[1].at[k], rows[2].at[k], rows[3].at[k]};
    hopper::fence_proxy_async();
    __syncthreads();  // the tile is transposed in shared memory
    if (tid != 0) continue;
    const auto number = static_cast<unsigned>(t);
    hopper::cp_async_bulk_tensor_3d_shared_to_global(&out, y_of(number), x_of(number), 0, here);
    hopper::cp_async_bulk_commit_group();
    if (step >= storing) {
      hopper::cp_async_bulk_wait_group_read<storing>();
      load(step - storing + stages);
    }
  }
  if (tid == 0)
    hopper::cp_async_bulk_wait_group_read<0>();  // shared memory must outlive the stores
}

}  // namespace

template <int stages>
void tensor_tiles(const TransposeArgs& p, cudaStream_t stream) {
  if (p.rows == 0 || p.columns == 0) return;
  CUtensorMap in, out;
  if (p.rows % 4 != 0 || !encode_floats(p.in, p.rows, p.columns, p.ldin, size, size, in) ||
      !encode_floats(p.out, p.columns, p.rows, p.ldout, size, size, out))
    return launch_wide_tiles<64, 64, 512, Order::of_output>(p, stream);
  constexpr auto bytes = tensor_tiles_shared_bytes(stages);
  const auto kernel = tensor_tiles_kernel<stages>;
  if (!allow_shared(kernel, bytes)) return;
  const unsigned down = tiles_over(p.rows, size), tiles = down * tiles_over(p.columns, size);
  const unsigned grid = std::min(tiles, static_cast<unsigned>(multiprocessors()));
  kernel<<<grid, threads, bytes, stream>>>(in, out, down, tiles);
}

template void tensor_tiles<12>(const TransposeArgs&, cudaStream_t);

}  // namespace recheck::kernels::transpose
