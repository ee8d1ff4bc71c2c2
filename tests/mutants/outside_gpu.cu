// SPDX-License-Identifier: Apache-2.0
//
// The articles of tests/outside with defects, on the GPU: bytes, and fp16 and fp32 along x.
#include <cuda_fp16.h>

#include <bit>

#include "../outside/histogram/histogram.hpp"
#include "../outside/stencil/stencil.hpp"
#include "mutants.hpp"

namespace recheck::mutants {
namespace {

template <bool atomic>
__global__ void count_kernel(::histogram::Args args) {
  __shared__ unsigned counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < args.count; i += 256) {
    if (atomic)
      atomicAdd(&counts[args.in[i]], 1U);
    else
      ++counts[args.in[i]];
  }
  __syncthreads();
  args.counts[threadIdx.x] = counts[threadIdx.x];
}
template <bool atomic>
void count(const ::histogram::Args& args, cudaStream_t stream) {
  count_kernel<atomic><<<1, 256, 0, stream>>>(args);
}

/// A thread has one cell of 32 and reads its halo, whose far end may begin `late` cells too late.
template <typename T, typename Sum, int late>
__global__ void derive_kernel(::stencil::Args<T> args) {
  const std::int64_t first = std::int64_t{blockIdx.y} * 32, j = first + threadIdx.x;
  const std::int64_t end = args.columns;
  if (j >= end) return;
  const auto cell = [&](std::int64_t at) {
    if (at >= first + 32) at += late;
    return float{args.in[blockIdx.x * args.ldin + (at % end + end) % end]};
  };
  Sum sum = 0.0F;
  for (int k = ::stencil::halo; k > 0; --k)
    sum += static_cast<Sum>(::stencil::weight(k) * (cell(j + k) - cell(j - k)));
  args.out[blockIdx.x * args.ldout + j] = static_cast<T>(sum);
}
template <typename T, typename Sum, int late>
void derive(const ::stencil::Args<T>& args, cudaStream_t stream) {
  using Own = std::conditional_t<std::is_same_v<T, fp16>, __half, T>;
  const dim3 grid(static_cast<unsigned>(args.rows), (args.columns + 31) / 32);
  if (args.rows == 0) return;
  derive_kernel<Own, Sum, late><<<grid, 32, 0, stream>>>(std::bit_cast<::stencil::Args<Own>>(args));
}

constexpr Strategy counts[] = {
    mutant("unspoiled", gpu_launcher<count<true>, ::histogram::arguments>()),
    mutant("missing_atomic", gpu_launcher<count<false>, ::histogram::arguments>()),
};
template <typename T>
constexpr auto arguments = ::stencil::arguments<T>;
template <typename T>
constexpr Strategy stencils[] = {
    mutant("unspoiled", gpu_launcher<derive<T, float, 0>, arguments<T>>()),
    mutant("halo_off_by_one", gpu_launcher<derive<T, float, 1>, arguments<T>>()),
    mutant("sums_in_fp16", gpu_launcher<derive<T, __half, 0>, arguments<T>>()),
};

}  // namespace

std::span<const Strategy> histogram_gpu() { return counts; }
std::span<const Strategy> stencil_fp16_gpu() { return stencils<fp16>; }
std::span<const Strategy> stencil_fp32_gpu() { return stencils<float>; }

}  // namespace recheck::mutants
