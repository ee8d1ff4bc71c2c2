// SPDX-License-Identifier: Apache-2.0
//
// How fast all multiprocessors together write to shared memory: a block writes all words, again and
// again, 16 bytes to a thread and side by side, so that no two lanes meet in a bank. Each pass
// overwrites the previous one, so the stores are volatile assembly; the compiler would leave out
// others. Reading back the words proves the last pass only.

#include "../fold.cuh"
#include "../launch.hpp"
#include "memory.hpp"

namespace recheck::kernels::memory {
namespace {

__device__ void store(unsigned at, unsigned word) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(word) : "memory");
}

__global__ void __launch_bounds__(fold_block) write_shared_kernel(ProbeArgs p) {
  extern __shared__ uint4 vectors[];
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(vectors));
  const auto end = static_cast<unsigned>((p.count + 3) / 4);
  // each thread has its own vectors, so no barrier is needed
  unsigned last = 0;
  for (unsigned pass = blockIdx.x; pass < passes; pass += gridDim.x) {
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < end; i += fold_block) store(base + 16 * i, i + 1 + pass);
    last = pass;
  }
  unsigned own = 0;
  for (unsigned i = threadIdx.x; i < end; i += fold_block) {
    const uint4 read = vectors[i];
    const unsigned words[] = {read.x, read.y, read.z, read.w};
#pragma unroll
    for (unsigned c = 0; c < 4 && 4 * i + c < p.count; ++c)
      own ^= __funnelshift_l(words[c] - last, words[c] - last, c);
  }
  store_fold(own, reinterpret_cast<unsigned*>(p.out));
}

}  // namespace

void write_shared(const ProbeArgs& args, cudaStream_t stream) {
  const std::int64_t bytes = staged_bytes(args.count);
  if (!allow_shared(write_shared_kernel, bytes)) return;
  int blocks = 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, write_shared_kernel, fold_block,
                                                    bytes) != cudaSuccess)
    return;  // the error stays for the caller's cudaGetLastError
  write_shared_kernel<<<multiprocessors() * blocks, fold_block, bytes, stream>>>(args);
}

}  // namespace recheck::kernels::memory
