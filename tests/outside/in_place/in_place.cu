// SPDX-License-Identifier: Apache-2.0
#include "in_place.hpp"

namespace in_place {
namespace {

constexpr unsigned threads = 128;

unsigned blocks(std::int64_t count) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

__global__ void filter_kernel(FilterArgs args) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i < args.count && args.in[i] > 0) args.out[atomicAdd(args.kept, 1U)] = args.in[i];
}

__global__ void multiply_kernel(SparseArgs args) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= args.rows) return;
  float sum = args.y[i];
  for (int at = args.starts[i]; at < args.starts[i + 1]; ++at)
    sum += args.values[at] * args.x[args.columns[at]];
  args.y[i] = sum;
}

}  // namespace

void filter(const FilterArgs& args, cudaStream_t stream) {
  if (args.count > 0) filter_kernel<<<blocks(args.count), threads, 0, stream>>>(args);
}
void multiply(const SparseArgs& args, cudaStream_t stream) {
  if (args.rows > 0) multiply_kernel<<<blocks(args.rows), threads, 0, stream>>>(args);
}

}  // namespace in_place
