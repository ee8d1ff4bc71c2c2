// SPDX-License-Identifier: Apache-2.0
//
// How long a load takes, level by level: a pointer chase by one thread, in which each address
// depends on the previous load. The data are arbitrary, so each word is masked and xored into the
// next address. The mask is 0, but it comes as an argument, so the compiler and the GPU have to
// wait for the word. This adds one logic instruction to each load, the same at every level and part
// of its time; the next line and the fold of the words are computed while a load is under way. The
// lines come in an order without a stride that a cache could predict. Over a gigabyte, times
// include address translation, as with any scattered loads.

#include "../launch.hpp"
#include "../one_stream.hpp"
#include "memory.hpp"

namespace recheck::kernels::memory {
namespace {

constexpr int block = 256;

/// Starts at line `first`; load(offset, twist) reads the word at (offset xor twist), in bytes.
template <int steps, typename Load>
__device__ void chase(unsigned first, unsigned lines, unsigned mask, float* result, Load load) {
  unsigned line = first, twist = 0, fold = 0;
#pragma unroll 64
  for (int s = 0; s < steps; ++s) {
    const unsigned word = load(line * line_words * 4, twist);
    twist = word & mask;
    fold = fold * chase_fold + word;
    line = (chase_factor * line + chase_increment) & (lines - 1);
  }
  auto* out = reinterpret_cast<unsigned*>(result);
  out[0] = fold;
  out[1] = line;
}

__global__ void __launch_bounds__(block)
    latency_shared_kernel(ProbeArgs p, unsigned lines, unsigned mask) {
  extern __shared__ unsigned words[];
  const int tid = static_cast<int>(threadIdx.x);
  for (int i = tid; i < p.count; i += block) words[i] = reinterpret_cast<const unsigned*>(p.in)[i];
  __syncthreads();
  if (tid != 0) return;
  chase<near_steps>(0, lines, mask, p.out, [&](unsigned offset, unsigned twist) {
    return *reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(words) +
                                              (offset ^ twist));
  });
}

__global__ void __launch_bounds__(block)
    latency_l1_kernel(ProbeArgs p, unsigned lines, unsigned mask) {
  const auto* words = reinterpret_cast<const unsigned*>(p.in);
  const auto base = reinterpret_cast<std::uintptr_t>(words);
  // the compiler would leave out loads without a use: here they give the first line, which the mask
  // makes 0
  unsigned seen = 0;
  for (unsigned line = threadIdx.x; line < lines; line += block)
    seen |= __ldg(words + line * line_words) & mask;
  const auto first = static_cast<unsigned>(__syncthreads_or(static_cast<int>(seen)));
  if (threadIdx.x != 0) return;
  chase<near_steps>(first, lines, mask, p.out, [=](unsigned offset, unsigned twist) {
    return __ldg(reinterpret_cast<const unsigned*>((base + offset) ^ twist));
  });
}

// launches on different streams share it
__constant__ unsigned constants[constant_words];
OneStream users_of_constants;

__global__ void latency_constant_kernel(ProbeArgs p, unsigned lines, unsigned mask) {
  chase<near_steps>(0, lines, mask, p.out, [](unsigned offset, unsigned twist) {
    return *reinterpret_cast<const unsigned*>(reinterpret_cast<const char*>(constants) +
                                              (offset ^ twist));
  });
}

__global__ void latency_far_kernel(ProbeArgs p, unsigned lines, unsigned mask) {
  const auto base = reinterpret_cast<std::uintptr_t>(p.in);
  chase<far_steps>(0, lines, mask, p.out, [=](unsigned offset, unsigned twist) {
    return __ldcg(reinterpret_cast<const unsigned*>((base + offset) ^ twist));
  });
}

}  // namespace

void latency_shared(const ProbeArgs& args, cudaStream_t stream) {
  const std::int64_t bytes = staged_bytes(args.count);
  if (!allow_shared(latency_shared_kernel, bytes)) return;
  latency_shared_kernel<<<1, block, bytes, stream>>>(args, chase_lines(args.count), 0);
}

void latency_l1(const ProbeArgs& args, cudaStream_t stream) {
  latency_l1_kernel<<<1, block, 0, stream>>>(args, chase_lines(args.count), 0);
}

void latency_constant(const ProbeArgs& args, cudaStream_t stream) {
  users_of_constants.in_turn(stream, [&] {
    if (cudaMemcpyToSymbolAsync(constants, args.in, args.count * sizeof(float), 0,
                                cudaMemcpyDeviceToDevice, stream) != cudaSuccess)
      return;  // the error stays for the caller's cudaGetLastError
    latency_constant_kernel<<<1, 1, 0, stream>>>(args, chase_lines(args.count), 0);
  });
}

void latency_far(const ProbeArgs& args, cudaStream_t stream) {
  latency_far_kernel<<<1, 1, 0, stream>>>(args, chase_lines(args.count), 0);
}

}  // namespace recheck::kernels::memory
