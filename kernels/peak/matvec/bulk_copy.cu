// SPDX-License-Identifier: Apache-2.0
//
// The matrix through bulk asynchronous copies (TMA): every block keeps `stages` pieces of its row
// in flight into a ring in shared memory, and waits for their bytes on mbarriers, so that loads in
// flight need no registers. Source: cp.async.bulk and mbarrier (PTX ISA, Hopper); CUB's bytes in
// flight for an H200.

#include <algorithm>

#include "../../launch.hpp"
#include "../hopper.cuh"
#include "chunk.cuh"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

#ifdef RECHECK_HOPPER
/// The part of a row that bulk copies can take: [begin, end), in words, aligned to 16 bytes at both
/// ends. Pieces start `shift` words before a multiple of their length, and so are aligned too.
struct Inner {
  int begin, end, shift;
};

__device__ inline Inner inner(const float* row, int columns) {
  const auto words = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) / sizeof(float) % 4);
  const int before = (4 - words) % 4;
  if (columns < before) return {columns, columns, words};
  return {before, columns - (columns - before) % 4, words};
}

#endif

template <int piece, int stages>
constexpr int ring_bytes = stages * piece * static_cast<int>(sizeof(float));

#if __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
constexpr int resident_threads = 2048;
#else
constexpr int resident_threads = 1024;
#endif

/// Blocks that the shared memory of a multiprocessor holds: registers must not make it fewer.
template <int block, int piece, int stages>
constexpr int resident =
    std::clamp(226 * 1024 / (ring_bytes<piece, stages> + 1280), 1, resident_threads / block);

template <int block, int piece, int stages>
__global__ void __launch_bounds__(block, resident<block, piece, stages>)
    bulk_copy_kernel(MatvecArgs p) {
#ifdef RECHECK_HOPPER
  constexpr int warps = block / warp, each = piece / (4 * block);
  extern __shared__ __align__(128) float ring[];  // (stages, piece)
  __shared__ hopper::Mbarrier full[stages];
  __shared__ float by_warp[warps];
  const int tid = static_cast<int>(threadIdx.x);
  const float* __restrict__ a = line(p, blockIdx.x);  // (columns)
  const float* __restrict__ v = p.v;
  const Inner in = inner(a, p.columns);
  // pieces of about the same length, in whole vectors
  const int pieces = (p.columns + piece - 1) / piece;
  const int length = pieces > 0 ? ((p.columns + pieces - 1) / pieces + 3) / 4 * 4 : 0;
  const auto begin = [&](int k) { return max(in.begin, k * length - in.shift); };
  const auto end = [&](int k) { return min(in.end, (k + 1) * length - in.shift); };
  const auto at = [&](int k) { return ring + k % stages * piece - (k * length - in.shift); };
  const auto copy = [&](int k) {  // by one thread
    const int words = max(end(k) - begin(k), 0);
    hopper::mbarrier_arrive_expect_tx(&full[k % stages], words * sizeof(float));
    if (words > 0)
      hopper::cp_async_bulk_global_to_shared(at(k) + begin(k), a + begin(k), words * sizeof(float),
                                             &full[k % stages]);
  };
  if (tid == 0) {
    for (int s = 0; s < stages; ++s) hopper::mbarrier_init(&full[s], 1);
    hopper::fence_mbarrier_init();
    for (int k = 0; k < min(stages, pieces); ++k) copy(k);
  }
  __syncthreads();  // the mbarriers are initialised for all

  // the words at both ends of the row that bulk copies cannot take
  float sum = 0;
  for (int i = tid; i < in.begin + p.columns - in.end; i += block) {
    const int word = i < in.begin ? i : i - in.begin + in.end;
    sum += a[word] * v[word];
  }
  for (int k = 0; k < pieces; ++k) {
    const int first = begin(k), count = max(end(k) - first, 0);
    // the loads of the vector are issued before the wait for the row
    if (reinterpret_cast<std::uintptr_t>(v + first) % sizeof(float4) == 0) {
      const auto* x = reinterpret_cast<const float4*>(at(k) + first);
      const auto* y = reinterpret_cast<const float4*>(v + first);
      float4 own[each];
#pragma unroll
      for (int u = 0; u < each; ++u)
        own[u] = tid + u * block < count / 4 ? __ldg(y + tid + u * block) : float4{};
      hopper::mbarrier_wait_parity(&full[k % stages], k / stages % 2);
#pragma unroll
      for (int u = 0; u < each; ++u)
        if (tid + u * block < count / 4) sum = dot(x[tid + u * block], own[u], sum);
    } else {
      const float* x = at(k) + first;
      float own[4 * each];
#pragma unroll
      for (int u = 0; u < 4 * each; ++u)
        own[u] = tid + u * block < count ? __ldg(v + first + tid + u * block) : 0;
      hopper::mbarrier_wait_parity(&full[k % stages], k / stages % 2);
#pragma unroll
      for (int u = 0; u < 4 * each; ++u)
        if (tid + u * block < count) sum += x[tid + u * block] * own[u];
    }
    if (k + stages < pieces) {
      hopper::fence_proxy_async();
      __syncthreads();  // all have read the piece
      if (tid == 0) copy(k + stages);
    }
  }
  for (int half = warp / 2; half > 0; half /= 2) sum += __shfl_down_sync(all_lanes, sum, half);
  if (tid % warp == 0) by_warp[tid / warp] = sum;
  __syncthreads();
  if (tid == 0) {
    for (int w = 1; w < warps; ++w) sum += by_warp[w];
    p.r[blockIdx.x] = sum;
  }
#endif
}

}  // namespace

template <int block, int piece, int stages>
void bulk_copy(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  constexpr int bytes = ring_bytes<piece, stages>;
  const auto kernel = bulk_copy_kernel<block, piece, stages>;
  if (allow_shared(kernel, bytes)) kernel<<<args.rows, block, bytes, stream>>>(args);
}

template void bulk_copy<256, 4096, 2>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
