// SPDX-License-Identifier: Apache-2.0
//
// The articles of tests/outside, spoiled on the GPU: of bytes, and of fp16 and fp32 along x.
#include <cuda_fp16.h>

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
    volatile unsigned& counter = counts[args.in[i]];
    if (atomic)
      atomicAdd(&counts[args.in[i]], 1U);
    else
      counter = counter + 1;
  }
  __syncthreads();
  args.counts[threadIdx.x] = counts[threadIdx.x];
}
template <bool atomic>
void count(const ::histogram::Args& args, cudaStream_t stream) {
  count_kernel<atomic><<<1, 256, 0, stream>>>(args);
}

/// A block has 32 cells of a row, and their halo, which may begin too late at its far end.
template <typename T, typename Sum, int late>
__global__ void derive_kernel(::stencil::Args args) {
  constexpr int halo = ::stencil::halo, cells = 32;
  __shared__ float tile[cells + 2 * halo];
  const std::int64_t first = std::int64_t{blockIdx.y} * cells, end = args.columns;
  for (int p = threadIdx.x; p < cells + 2 * halo; p += cells) {
    const std::int64_t at = first + p - halo + (p >= cells + halo ? late : 0);
    const auto* row = static_cast<const T*>(args.in) + blockIdx.x * args.ldin;
    tile[p] = static_cast<float>(row[(at % end + end) % end]);
  }
  __syncthreads();
  if (first + threadIdx.x >= end) return;
  const float* own = tile + threadIdx.x + halo;
  Sum sum = 0.0F;
  for (int k = halo; k > 0; --k) sum += static_cast<Sum>(::stencil::weight(k) * (own[k] - own[-k]));
  static_cast<T*>(args.out)[blockIdx.x * args.ldout + first + threadIdx.x] = static_cast<T>(sum);
}
template <typename T, typename Sum, int late>
void derive(const ::stencil::Args& args, cudaStream_t stream) {
  using Half = std::conditional_t<std::is_same_v<T, fp16>, __half, T>;
  const dim3 grid(static_cast<unsigned>(args.rows), (args.columns + 31) / 32);
  if (args.rows > 0) derive_kernel<Half, Sum, late><<<grid, 32, 0, stream>>>(args);
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
