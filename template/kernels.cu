// The article's kernels, and a launcher for each. They know nothing of Recheck. EDIT
#include "kernels.hpp"

namespace {

__global__ void scalar_kernel(const float* in, float* out, std::int64_t count) {
  const std::int64_t threads = std::int64_t{blockDim.x} * gridDim.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < count; i += threads) out[i] = in[i];
}

__global__ void vector_kernel(const float* in, float* out, std::int64_t count) {
  const std::int64_t threads = std::int64_t{blockDim.x} * gridDim.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < count / 4; i += threads)
    reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
  for (std::int64_t i = count / 4 * 4 + first; i < count; i += threads) out[i] = in[i];
}

unsigned blocks(std::int64_t threads) {
  const std::int64_t needed = (threads + 127) / 128;
  return static_cast<unsigned>(needed < 1 ? 1 : needed > 4096 ? 4096 : needed);
}

}  // namespace

void scalar(const Args& args, cudaStream_t stream) {
  scalar_kernel<<<blocks(args.count), 128, 0, stream>>>(args.in, args.out, args.count);
}

void vector(const Args& args, cudaStream_t stream) {
  vector_kernel<<<blocks(args.count / 4), 128, 0, stream>>>(args.in, args.out, args.count);
}
