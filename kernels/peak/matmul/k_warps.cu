// SPDX-License-Identifier: Apache-2.0
//
// Warps share k. A product with few outputs has few tiles, which keep few multiprocessors busy.
// Here each of the eight warps of a block multiplies the block's whole tile by every eighth slab of
// k. It copies its slabs ahead with cp.async to its own slots, so that no warp waits for another
// before the end. Then their sums are added in shared memory in a fixed order, so that every run
// gives the same bits. Where tiles are few, several blocks take slabs of one tile in turn, and
// leave their sums in a workspace for a second kernel; on Hopper and later it is launched while the
// first one works. Source: "sliced-K" and "split-K" in CUTLASS; programmatic dependent launch
// (CUDA, Hopper).
//
// Rows and columns outside are not copied: their places in shared memory hold arbitrary words,
// which affect only outputs that are not stored. Words beyond k are zero in A and in B.

#include "../cp_async.cuh"
#include "../float4.cuh"
#include "../hopper.cuh"
#include "parts.cuh"
#include "warp_tile.cuh"

namespace recheck::kernels::matmul {
namespace {

/// A tile of C: a warp has lanes_m×lanes_n lanes with tm×tn outputs each, in rows that are lanes_m
/// apart. A slab holds A's part, (rows, depth), and then B's, (depth, columns).
template <int lanes_m_, int tm_, int tn_>
struct SharedK {
  static constexpr int lanes_m = lanes_m_, lanes_n = 32 / lanes_m, tm = tm_, tn = tn_;
  static constexpr int rows = lanes_m * tm, columns = lanes_n * tn;
  static constexpr int depth = shared_k_depth;
  static constexpr int warps = sharing_warps, threads = 32 * warps;
  static constexpr int a_floats = rows * depth, slab_floats = a_floats + depth * columns;
  // the shared memory that every GPU from 8.0 on gives a block
  static constexpr int fit = 99 * 1024 / (4 * warps * slab_floats), stages = fit < 4 ? fit : 4;
  static constexpr int ring = stages * slab_floats, bytes = 4 * warps * ring;
  // four outputs of one row at a time: of a tile, each lane's i-th after all lanes' before it
  static constexpr int fours = 32 * tm;
  static_assert(tn == 4 && lanes_m == 4);
  static_assert(stages >= 2 && fours <= threads && 2 * 4 * fours <= ring);

  /// Where A's slab has row r + more at k, for r below `more`'s lowest bit. A row's four pieces of
  /// 16 bytes are permuted, so that those of eight rows at the same k lie in 32 banks, as those of
  /// two neighbouring rows do.
  static __device__ constexpr int a_at(int r, int k, int more) {
    return (r + more) * depth + (k ^ (2 * r & 12) ^ (2 * more & 12));
  }

  /// Where a lane's outputs begin. Neighbours share a row's piece of A or a column's of B, as in
  /// warp_tile.cuh.
  static __device__ constexpr Place place(int lane) {
    return {(lane & 1) | lane >> 4 << 1, (lane >> 1 & 7) * tn};
  }
};

template <typename T, bool vectors>
__global__ void __launch_bounds__(T::threads, 2) share_k_kernel(MatmulArgs p, Parts parts) {
  extern __shared__ float4 shared[];
  const int tid = static_cast<int>(threadIdx.x), warp = tid / 32, lane = tid % 32;
  const Place tile = place_of_tile<T>(p, static_cast<int>(blockIdx.x));
  const Place mine = T::place(lane);
  float* slabs = reinterpret_cast<float*>(shared) + warp * T::ring;
  if (parts.data != nullptr) hopper::griddepcontrol_launch_dependents();  // what adds them

  // this warp's slabs: where they start along k, and how far apart they are
  const int stretch = static_cast<int>(blockIdx.y), stretches = static_cast<int>(gridDim.y);
  const int begin = (stretch * T::warps + warp) * T::depth;
  const int step = stretches * T::warps * T::depth;
  // a lane copies 4 words or 1 at a time: every a_rows-th row of A, every b_rows-th of B
  constexpr int width = vectors ? 4 : 1;
  constexpr int a_across = T::depth / width, a_rows = 32 / a_across;
  const int ak = lane % a_across * width, ar = lane / a_across, rows = p.m - tile.row - ar;
  const float* a = p.a + (tile.row + ar) * p.lda + begin + ak;
  constexpr int b_across = T::columns / width, b_rows = 32 / b_across;
  const int bk = lane / b_across, bc = lane % b_across * width;
  const float* b = p.b + (begin + bk) * p.ldb + tile.column + bc;
  const bool column = tile.column + bc < p.n;
  const auto ring = static_cast<unsigned>(__cvta_generic_to_shared(slabs));
  const std::int64_t a_apart = a_rows * p.lda, b_apart = b_rows * p.ldb;
  int deep = p.k - begin;  // the depth that is left

  // starts the copies of the next slab, if there is one
  const auto start = [&](int slot) {
    if (deep > 0) {
      const unsigned to = ring + slot * T::slab_floats * 4;
      const float* from = ak < deep ? a : p.a;  // unread words need valid addresses too
#pragma unroll
      for (int r = 0; r < T::rows; r += a_rows) {
        if (r < rows) cp_async<4 * width>(to + 4 * T::a_at(ar, ak, r), from, ak < deep);
        from += a_apart;
      }
      from = bk < deep ? b : p.b;
#pragma unroll
      for (int e = 0; e < T::depth; e += b_rows) {
        if (column)
          cp_async<4 * width>(to + 4 * (T::a_floats + (bk + e) * T::columns + bc), from,
                              e < deep - bk);
        if (e + b_rows < deep - bk) from += b_apart;
      }
      a += step;
      b += step * p.ldb;
      deep -= step;
    }
    cp_async_commit_group();  // an empty group as well: wait_group counts one per slab
  };

  Outputs<T> outputs;
  int slot = 0;
  // copies run `ahead` of the multiplication, and begin before it
  constexpr int ahead = T::stages - 1;
#pragma unroll 1
  for (int k = begin - ahead * step; k < p.k; k += step) {
    if (k >= begin) {
      cp_async_wait_group<ahead - 1>();
      __syncwarp();  // all lanes have read the previous slab, so its slot is free
    }
    start(slot);
    slot = slot == ahead ? 0 : slot + 1;
    if (k < begin) continue;
    const float* as = slabs + slot * T::slab_floats;
    const float* bs = as + T::a_floats + mine.column;
#pragma unroll
    for (int e = 0; e < T::depth / 4; ++e) {
      float along[T::tm][4];
#pragma unroll
      for (int i = 0; i < T::tm; ++i) {
        const float4 v =
            *reinterpret_cast<const float4*>(as + T::a_at(mine.row, 4 * e, i * T::lanes_m));
        along[i][0] = v.x, along[i][1] = v.y, along[i][2] = v.z, along[i][3] = v.w;
      }
#pragma unroll
      for (int f = 0; f < 4; ++f) {
        Fragment<T> fragment;
#pragma unroll
        for (int i = 0; i < T::tm; ++i) fragment.a[i] = along[i][f];
        const float4 v = *reinterpret_cast<const float4*>(bs + (4 * e + f) * T::columns);
        fragment.b[0] = v.x, fragment.b[1] = v.y, fragment.b[2] = v.z, fragment.b[3] = v.w;
        outputs.add(fragment);
      }
    }
  }

  // each warp's sums at the start of its ring
  __syncwarp();  // all lanes have read the last slab
  constexpr int apart = T::ring / 4;
#pragma unroll
  for (int i = 0; i < T::tm; ++i)
    shared[warp * apart + i * 32 + lane] =
        make_float4(outputs.c[i][0], outputs.c[i][1], outputs.c[i][2], outputs.c[i][3]);
  __syncthreads();
  if (tid >= T::fours) return;
  float4 sum = shared[tid];
#pragma unroll
  for (int w = 1; w < T::warps; ++w) sum = sum + shared[w * apart + tid];
  const Place at = T::place(lane);
  const bool aligned = vectors || parts.data != nullptr;
  parts.take_place_of_c(p, stretch);
  store_four(p, aligned, tile.row + at.row + warp * T::lanes_m, tile.column + at.column, sum);
}

}  // namespace

template <int lanes_m, int tm, int tn, int blocks>
void k_warps(const MatmulArgs& args, const Queue& queue) {
  if (args.m == 0 || args.n == 0) return;
  using T = SharedK<lanes_m, tm, tn>;
  const int count = tiles<T>(args), slabs = (args.k + T::depth - 1) / T::depth;
  const int stretches = blocks_of_k(count, slabs, blocks);
  const Parts parts = parts_of(args, stretches, queue.workspace);
  const auto kernel = all_on_vectors(args) ? share_k_kernel<T, true> : share_k_kernel<T, false>;
  if (!allow_shared(kernel, T::bytes)) return;
  const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>(stretches));
  kernel<<<grid, T::threads, T::bytes, queue.stream>>>(args, parts);
  add_stretches(args, parts, stretches, queue.stream);
}

template void k_warps<4, 4, 4, 256>(const MatmulArgs&, const Queue&);
template void k_warps<4, 8, 4, 256>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
