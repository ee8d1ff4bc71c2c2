// SPDX-License-Identifier: Apache-2.0
//
// Warps share k. In k_stretches.cu a product with few outputs takes a second launch, which adds the
// sums of many blocks, and a block waits at two barriers for each slab. Here a block has one tile,
// and each of its eight warps multiplies the whole of it by every eighth slab of k, copied ahead
// with cp.async to a ring of its own, so that no warp waits for another before the end. Then the
// warps' sums are added in shared memory, and those of the blocks of a cluster, which share k in the
// same way, in the distributed shared memory of Hopper: one launch, no workspace, and an order that
// does not change, so that every run leaves the same bits. Source: "sliced-K" and "split-K" of
// CUTLASS; thread block clusters (CUDA, Hopper).
//
// Rows and columns outside are not copied: what they find in shared memory goes into outputs that
// are not stored. What is beyond k is zero in A and in B.

#include "../cluster.cuh"
#include "../cp_async.cuh"
#include "warp_tile.cuh"

namespace recheck::kernels::matmul {
namespace {

/// A tile of C: a warp has lanes_m×lanes_n lanes with tm×tn outputs each, of rows that are lanes_m
/// apart. A slab of A, (rows, depth), and behind it B's, (depth, columns).
template <int lanes_m_, int tm_, int tn_>
struct KWarps {
  static constexpr int lanes_m = lanes_m_, lanes_n = 32 / lanes_m, tm = tm_, tn = tn_;
  static constexpr int rows = lanes_m * tm, columns = lanes_n * tn, depth = k_warps_depth;
  static constexpr int warps = k_warps_count, threads = 32 * warps;
  static constexpr int a_floats = rows * depth, slab_floats = a_floats + depth * columns;
  // what every GPU from 8.0 on gives a block
  static constexpr int fit = 99 * 1024 / (4 * warps * slab_floats), stages = fit < 4 ? fit : 4;
  static constexpr int ring = stages * slab_floats, bytes = 4 * warps * ring;
  // four outputs of one row at a time: of a tile, each lane's i-th behind all lanes' before it
  static constexpr int fours = 32 * tm;
  static_assert(tn == 4 && (lanes_m == 4 || lanes_m == 16) && depth == 16);
  static_assert(stages >= 2 && fours <= threads && 2 * 4 * fours <= ring);

  /// Where A's slab has row r at k: in place of its four pieces of 16 bytes, one after the other,
  /// they are permuted, so that eight rows' pieces of the same k lie in 32 banks, as two whole rows
  /// do.
  static __device__ int a_at(int r, int k) { return r * depth + (k ^ (2 * r & 12)); }

  /// Where a lane's outputs begin. Neighbours share a row's piece of A or a column's of B, as in
  /// warp_tile.cuh.
  static __device__ Place place(int lane) {
    if constexpr (lanes_m == 4) return {(lane & 1) | lane >> 4 << 1, (lane >> 1 & 7) * tn};
    return {lane >> 1, (lane & 1) * tn};
  }
};

/// All threads of a block meet, or all of a cluster.
template <bool cluster>
__device__ void meet() {
  if constexpr (cluster) {
    barrier_cluster_arrive();
    barrier_cluster_wait();
  } else {
    __syncthreads();
  }
}

__device__ float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

template <typename T, bool clusters, bool vectors>
__global__ void __launch_bounds__(T::threads, 2) k_warps_kernel(MatmulArgs p, int cluster) {
  extern __shared__ float4 shared[];
  const int tid = static_cast<int>(threadIdx.x), warp = tid / 32, lane = tid % 32;
  const int rank = clusters ? static_cast<int>(cluster_ctarank()) : 0;
  const Place tile = place_of_tile<T>(p, static_cast<int>(blockIdx.x) / cluster);
  const Place mine = T::place(lane);
  float* slabs = reinterpret_cast<float*>(shared) + warp * T::ring;

  // this warp's slabs: from where on along k, and how far apart
  const int begin = (rank * T::warps + warp) * T::depth, step = cluster * T::warps * T::depth;
  constexpr int width = vectors ? 4 : 1;  // words of a copy
  constexpr int a_across = T::depth / width, a_rows = 32 / a_across;
  const int ak = lane % a_across * width, ar = lane / a_across;
  const float* a = p.a + (tile.row + ar) * p.lda + begin + ak;
  constexpr int b_across = T::columns / width, b_rows = 32 / b_across;
  const int bk = lane / b_across, bc = lane % b_across * width;
  const float* b = p.b + (begin + bk) * p.ldb + tile.column + bc;
  const bool b_inside = tile.column + bc < p.n;

  // starts the copies of the next slab, if there is one
  int deep = p.k - begin;
  const auto start = [&](int slot) {
    if (deep > 0) {
      float* as = slabs + slot * T::slab_floats;
      const float* from = a;
#pragma unroll
      for (int r = 0; r < T::rows; r += a_rows) {
        if (tile.row + ar + r < p.m) cp_async<4 * width>(as + T::a_at(ar + r, ak), from, ak < deep);
        from += a_rows * p.lda;
      }
      float* bs = as + T::a_floats + bk * T::columns + bc;
      from = b;
#pragma unroll
      for (int e = 0; e < T::depth; e += b_rows) {
        if (b_inside) cp_async<4 * width>(bs + e * T::columns, from, bk + e < deep);
        from += b_rows * p.ldb;
      }
      a += step;
      b += step * p.ldb;
      deep -= step;
    }
    cp_async_commit_group();  // a group for every slab, if empty, so that counting groups counts
                              // slabs
  };

  int piece[T::depth / 4];  // of A, where this lane finds them in its first row
#pragma unroll
  for (int e = 0; e < T::depth / 4; ++e) piece[e] = T::a_at(mine.row, 4 * e);

  Outputs<T> outputs;
#pragma unroll
  for (int s = 0; s < T::stages - 1; ++s) start(s);
  int slot = 0;
#pragma unroll 1
  for (int k = begin; k < p.k; k += step) {
    cp_async_wait_group<T::stages - 2>();
    __syncwarp();  // this slab is complete, and all lanes have read the one before, whose slot is
                   // filled again
    start(slot == 0 ? T::stages - 1 : slot - 1);
    const float* as = slabs + slot * T::slab_floats;
    const float* bs = as + T::a_floats + mine.column;
#pragma unroll
    for (int e = 0; e < T::depth / 4; ++e) {
      float4 along[T::tm];
#pragma unroll
      for (int i = 0; i < T::tm; ++i)
        along[i] = *reinterpret_cast<const float4*>(as + piece[e ^ (T::lanes_m / 2 * i & 3)] +
                                                    i * T::lanes_m * T::depth);
#pragma unroll
      for (int f = 0; f < 4; ++f) {
        Fragment<T> fragment;
#pragma unroll
        for (int i = 0; i < T::tm; ++i)
          fragment.a[i] = f == 0   ? along[i].x
                          : f == 1 ? along[i].y
                          : f == 2 ? along[i].z
                                   : along[i].w;
        const float4 v = *reinterpret_cast<const float4*>(bs + (4 * e + f) * T::columns);
        fragment.b[0] = v.x, fragment.b[1] = v.y, fragment.b[2] = v.z, fragment.b[3] = v.w;
        outputs.add(fragment);
      }
    }
    slot = slot == T::stages - 1 ? 0 : slot + 1;
  }

  // each warp's sums at the start of its ring
  __syncwarp();  // all lanes have read the last slab
  constexpr int apart = T::ring / 4;
#pragma unroll
  for (int i = 0; i < T::tm; ++i)
    shared[warp * apart + i * 32 + lane] =
        make_float4(outputs.c[i][0], outputs.c[i][1], outputs.c[i][2], outputs.c[i][3]);
  meet<clusters>();
  float4 sum = {};
  if (tid < T::fours) {
    sum = shared[tid];
#pragma unroll
    for (int w = 1; w < T::warps; ++w) sum = sum + shared[w * apart + tid];
  }
  // each block of a cluster stores a share of the tile, for which the others send it their sums,
  // behind those of its first warp
  int i = tid, share = T::fours;
  if (clusters && cluster > 1) {
    share = T::fours / cluster;
    float4* received = shared + T::fours;
    if (tid < T::fours)
      st_shared_cluster(received + rank * share + tid % share, tid / share, sum);
    meet<clusters>();
    i = rank * share + tid;
    if (tid < share) {
      sum = received[tid];
      for (int r = 1; r < cluster; ++r) sum = sum + received[r * share + tid];
    }
  }
  const Place at = T::place(i % 32);
  if (tid < share)
    store_four(p, vectors, tile.row + at.row + i / 32 * T::lanes_m, tile.column + at.column, sum);
}

}  // namespace

template <int lanes_m, int tm, int tn, int most_cluster>
void k_warps(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  using T = KWarps<lanes_m, tm, tn>;
  constexpr bool clusters = most_cluster > 1;
  const int count = tiles<T>(args), cluster = cluster_of_k(count, args.k, most_cluster);
  const auto kernel = all_on_vectors(args) ? k_warps_kernel<T, clusters, true>
                                           : k_warps_kernel<T, clusters, false>;
  if (allow_shared(kernel, T::bytes))
    launch_clusters(cluster, kernel, dim3(static_cast<unsigned>(count * cluster)), T::threads,
                    T::bytes, stream, args, cluster);
}

template void k_warps<4, 4, 4, 1>(const MatmulArgs&, cudaStream_t);
template void k_warps<16, 4, 4, 1>(const MatmulArgs&, cudaStream_t);
template void k_warps<4, 4, 4, 8>(const MatmulArgs&, cudaStream_t);
template void k_warps<16, 4, 4, 8>(const MatmulArgs&, cudaStream_t);
template void k_warps<4, 8, 4, 8>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
