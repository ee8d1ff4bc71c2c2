// SPDX-License-Identifier: Apache-2.0
//
// Another user of the GPU: keeps it busy for so many seconds and leaves it alone for so many, until
// it is killed. load [BUSY [IDLE]]: 3 and 0 by default.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

__global__ void multiply_and_add(float* x) {
  float sum = x[threadIdx.x];
  for (int i = 0; i < 20'000; ++i) sum = sum * 0.999F + 0.5F;
  x[threadIdx.x] = sum;
}

}  // namespace

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  const Seconds busy(argc > 1 ? std::atof(argv[1]) : 3), idle(argc > 2 ? std::atof(argv[2]) : 0);
  float* x = nullptr;
  if (cudaMalloc(&x, 1024 * sizeof *x) != cudaSuccess) return 1;
  while (true) {
    for (const auto end = Clock::now() + busy; Clock::now() < end;) {
      for (int i = 0; i < 20; ++i) multiply_and_add<<<528, 256>>>(x);
      if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    }
    std::this_thread::sleep_for(idle);
  }
}
