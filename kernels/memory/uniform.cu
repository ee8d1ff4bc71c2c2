// SPDX-License-Identifier: Apache-2.0
//
// How many words per second all multiprocessors together get where every lane of a warp reads the
// same word, as the threads of S3's products read the vector: from shared memory, from constant
// memory and through the L1 cache. Loads do not wait for each other, so this is throughput, not
// latency. The whole block uses one index and the compiler knows it, as in S3's loops.

#include "../fold.cuh"
#include "../launch.hpp"
#include "../one_stream.hpp"
#include "memory.hpp"

namespace recheck::kernels::memory {
namespace {

/// Each warp of a block takes a pass over words[0, count). Passes begin at different words;
/// otherwise the compiler might read them once for all passes.
template <typename Load>
__device__ void uniform_passes(int count, float* out, Load load) {
  constexpr unsigned lanes = 32, warps = fold_block / lanes;
  const unsigned warp = threadIdx.x / lanes;
  unsigned own = 0;
  for (unsigned step = blockIdx.x; step * warps < passes; step += gridDim.x) {
    const int first = static_cast<int>(step % static_cast<unsigned>(count));
    unsigned once = 0;
#pragma unroll 8
    for (int i = first; i < count; ++i) once ^= load(i);
    // the compiler does not know this loop's alignment, so it cannot merge two loads
#pragma unroll 8
    for (int i = count; i < count + first; ++i) once ^= load(i - count);
    const unsigned pass = step * warps + warp;
    if (pass < passes) own ^= __funnelshift_l(once, once, pass);
  }
  // all lanes have the same value, so one stores it for the warp
  store_fold(threadIdx.x % lanes == 0 ? own : 0, reinterpret_cast<unsigned*>(out));
}

__global__ void __launch_bounds__(fold_block) uniform_shared_kernel(ProbeArgs p) {
  extern __shared__ unsigned words[];
  for (int i = static_cast<int>(threadIdx.x); i < p.count; i += fold_block)
    words[i] = reinterpret_cast<const unsigned*>(p.in)[i];
  __syncthreads();
  uniform_passes(static_cast<int>(p.count), p.out, [](int i) { return words[i]; });
}

__global__ void __launch_bounds__(fold_block) uniform_l1_kernel(ProbeArgs p) {
  const auto* words = reinterpret_cast<const unsigned*>(p.in);
  uniform_passes(static_cast<int>(p.count), p.out, [=](int i) { return __ldg(words + i); });
}

// launches on different streams share it
__constant__ unsigned constants[constant_words];
OneStream users_of_constants;

__global__ void __launch_bounds__(fold_block) uniform_constant_kernel(ProbeArgs p) {
  uniform_passes(static_cast<int>(p.count), p.out, [](int i) { return constants[i]; });
}

/// As many blocks as can run at once.
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

void uniform_shared(const ProbeArgs& args, cudaStream_t stream) {
  launch<uniform_shared_kernel>(args, staged_bytes(args.count), stream);
}

void uniform_l1(const ProbeArgs& args, cudaStream_t stream) {
  launch<uniform_l1_kernel>(args, 0, stream);
}

void uniform_constant(const ProbeArgs& args, cudaStream_t stream) {
  users_of_constants.in_turn(stream, [&] {
    if (cudaMemcpyToSymbolAsync(constants, args.in, args.count * sizeof(float), 0,
                                cudaMemcpyDeviceToDevice, stream) != cudaSuccess)
      return;  // the error stays for the caller's cudaGetLastError
    launch<uniform_constant_kernel>(args, 0, stream);
  });
}

}  // namespace recheck::kernels::memory
