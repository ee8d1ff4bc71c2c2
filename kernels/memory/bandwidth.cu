// SPDX-License-Identifier: Apache-2.0
//
// How fast all multiprocessors together read nearby words: from shared memory, or the same words
// through the L1 cache. A warp reads all of them, again and again, 16 bytes to a lane and side by
// side, so that no two lanes meet in a bank, and does next to nothing with them.

#include "../fold.cuh"
#include "../launch.hpp"
#include "memory.hpp"

namespace recheck::kernels::memory {
namespace {

/// This warp's passes over `words`. A lane reads other words in every pass; otherwise the compiler
/// might read them once for all passes. Rotations keep passes from cancelling each other.
template <typename Load>
__device__ void fold_passes(const unsigned* words, std::int64_t count, float* out, Load load) {
  constexpr unsigned lanes = 32, warps = fold_block / lanes;
  unsigned own = 0;
  // the first pass of each block comes before the second of any, which balances the work
  for (unsigned pass = threadIdx.x / lanes * gridDim.x + blockIdx.x; pass < passes;
       pass += warps * gridDim.x) {
    const auto lane = static_cast<int>((threadIdx.x + pass) % lanes);
    const unsigned once = fold_words(words, count, 0, 1, lane, lanes, load);
    own ^= __funnelshift_l(once, once, pass);
  }
  store_fold(own, reinterpret_cast<unsigned*>(out));
}

__global__ void __launch_bounds__(fold_block) bandwidth_shared_kernel(ProbeArgs p) {
  extern __shared__ uint4 vectors[];
  auto* words = reinterpret_cast<unsigned*>(vectors);
  for (int i = static_cast<int>(threadIdx.x); i < p.count; i += fold_block)
    words[i] = reinterpret_cast<const unsigned*>(p.in)[i];
  __syncthreads();
  fold_passes(words, p.count, p.out, [](const uint4* at) { return *at; });
}

__global__ void __launch_bounds__(fold_block) bandwidth_l1_kernel(ProbeArgs p) {
  fold_passes(reinterpret_cast<const unsigned*>(p.in), p.count, p.out,
              [](const uint4* at) { return __ldg(at); });
}

/// As many blocks as can run at once, so that each multiprocessor fetches the words only once.
template <auto kernel>
void launch(const ProbeArgs& args, std::int64_t staged, cudaStream_t stream) {
  if (!allow_shared(kernel, staged)) return;
  int blocks = 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, fold_block, staged) !=
      cudaSuccess)
    return;  // the error stays for the caller's cudaGetLastError
  kernel<<<multiprocessors() * blocks, fold_block, staged, stream>>>(args);
}

}  // namespace

void bandwidth_shared(const ProbeArgs& args, cudaStream_t stream) {
  launch<bandwidth_shared_kernel>(args, staged_bytes(args.count), stream);
}

void bandwidth_l1(const ProbeArgs& args, cudaStream_t stream) {
  launch<bandwidth_l1_kernel>(args, 0, stream);
}

}  // namespace recheck::kernels::memory
