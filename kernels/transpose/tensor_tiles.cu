// SPDX-License-Identifier: Apache-2.0
//
// The copy engine moves the tiles (TMA): one block per multiprocessor keeps `stages` tiles of 64×64
// in shared memory, each filled by one instruction, transposed in place by way of registers, and
// emptied by another, while the others are under way. No address is computed, ragged edges are the
// engine's affair, and no swizzle is needed: eight threads that take 4×4 blocks along a diagonal
// meet in no bank, neither reading rows nor writing columns. Source: PTX ISA, cp.async.bulk.tensor;
// simveit's effective_transpose, which swizzles.

#include <cuda_runtime.h>

#include "../hopper.cuh"
#include "wide.cuh"

namespace recheck::kernels::transpose {
namespace {

constexpr int size = 64, threads = 256;
constexpr unsigned tile_bytes = size * size * sizeof(float);
constexpr int emptying = 2;  // tiles that may still be on their way out when a load is asked for

__device__ void load_tile([[maybe_unused]] void* to, [[maybe_unused]] const CUtensorMap* map,
                          [[maybe_unused]] hopper::Barrier* barrier, [[maybe_unused]] int x,
                          [[maybe_unused]] int y) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];" ::"r"(hopper::shared_address(to)),
      "l"(map), "r"(hopper::shared_address(barrier)), "r"(x), "r"(y)
      : "memory");
#endif
}

__device__ void store_tile([[maybe_unused]] const CUtensorMap* map, [[maybe_unused]] int x,
                           [[maybe_unused]] int y, [[maybe_unused]] const void* from) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(hopper::shared_address(from))
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

/// Returns once all but the last `pending` stores have read their tiles.
template <int pending>
__device__ void stores_read() {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
#endif
}

/// Makes this thread's writes to shared memory visible to the copy engine.
__device__ void show_to_engine() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

template <int stages>
__global__ void __launch_bounds__(threads, 1)
    tensor_tiles_kernel(const __grid_constant__ CUtensorMap in,
                        const __grid_constant__ CUtensorMap out, unsigned tiles_down,
                        unsigned tiles) {
  extern __shared__ __align__(128) Piece<4> tile[];  // stages × 64 rows × 16 pieces
  __shared__ hopper::Barrier full[stages];
  constexpr int lanes = size / 4, pieces = size * lanes;
  const unsigned tid = threadIdx.x;
  const auto x_of = [&](unsigned t) { return static_cast<int>(t / tiles_down) * size; };
  const auto y_of = [&](unsigned t) { return static_cast<int>(t % tiles_down) * size; };
  const auto load = [&](unsigned step) {  // the block's tile of that number
    const std::uint64_t t = blockIdx.x + std::uint64_t{step} * gridDim.x;
    if (t >= tiles) return;
    const unsigned stage = step % stages, number = static_cast<unsigned>(t);
    hopper::barrier_expect(&full[stage], tile_bytes);
    load_tile(tile + stage * pieces, &in, &full[stage], x_of(number), y_of(number));
  };
  if (tid == 0) {
    for (int i = 0; i < stages; ++i) hopper::barrier_init(&full[i], 1);
    hopper::barrier_init_done();
    for (int i = 0; i < stages; ++i) load(i);
  }
  __syncthreads();

  // 8×8 blocks of 4×4 to 64 threads: lane x takes column x, and of the rows another one each
  const unsigned x = tid / 64 % 2 * 8 + tid % 8, y = tid / 128 * 8 + (tid / 8 + tid) % 8;
  unsigned step = 0;
  for (std::uint64_t t = blockIdx.x; t < tiles; t += gridDim.x, ++step) {
    const unsigned stage = step % stages;
    Piece<4>* here = tile + stage * pieces;
    hopper::barrier_wait(&full[stage], step / stages % 2);
    Piece<4> rows[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) rows[k] = here[(4 * y + k) * lanes + x];
    __syncthreads();  // the tile is in registers
#pragma unroll
    for (int k = 0; k < 4; ++k)
      here[(4 * x + k) * lanes + y] = {rows[0].at[k], rows[1].at[k], rows[2].at[k], rows[3].at[k]};
    show_to_engine();
    __syncthreads();  // and back again
    if (tid != 0) continue;
    const auto number = static_cast<unsigned>(t);
    store_tile(&out, y_of(number), x_of(number), here);
    if (step >= emptying) {
      stores_read<emptying>();
      load(step - emptying + stages);
    }
  }
  if (tid == 0) stores_read<0>();  // shared memory must outlive them
}

/// A map of a matrix in boxes of 64×64, or an error.
cudaError_t describe(const float* base, int rows, int columns, std::int64_t ld, CUtensorMap* map) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (const auto error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                                          cudaEnableDefault, &found))
    return error;
  if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  const auto extent = [](int n) { return static_cast<cuuint64_t>(n); };
  const cuuint64_t extents[] = {extent(columns), extent(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(ld) * sizeof(float)};
  const cuuint32_t box[] = {size, size}, steps[] = {1, 1};
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  const auto result =
      encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(base), extents, strides,
             box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

template <int stages>
void tensor_tiles(const TransposeArgs& p, cudaStream_t stream) {
  if (p.rows == 0 || p.columns == 0) return;
  CUtensorMap in, out;
  if (!rows_aligned(p.in, p.ldin) || !rows_aligned(p.out, p.ldout) ||
      describe(p.in, p.rows, p.columns, p.ldin, &in) != cudaSuccess ||
      describe(p.out, p.columns, p.rows, p.ldout, &out) != cudaSuccess)
    return launch_wide_tiles<64, 64, 512, Order::of_output>(p, stream);
  int device = 0, multiprocessors = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  const unsigned down = tiles_over(p.rows, size), tiles = down * tiles_over(p.columns, size);
  const auto resident = static_cast<unsigned>(multiprocessors);
  const unsigned grid = tiles < resident ? tiles : resident;
  constexpr int bytes = stages * static_cast<int>(tile_bytes);
  cudaFuncSetAttribute(tensor_tiles_kernel<stages>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       bytes);
  tensor_tiles_kernel<stages><<<grid, threads, bytes, stream>>>(in, out, down, tiles);
}

template void tensor_tiles<12>(const TransposeArgs&, cudaStream_t);
template void tensor_tiles<6>(const TransposeArgs&, cudaStream_t);

}  // namespace recheck::kernels::transpose
