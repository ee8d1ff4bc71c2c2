// SPDX-License-Identifier: Apache-2.0
//
// A file of its own: nvcc would read the test's headers once per architecture.
#include "../kernels/matvec/s3_transposed.cuh"
#include "scope.hpp"

namespace recheck {
namespace {

__global__ void shared_kernel(unsigned* at_first, unsigned* after_all_others, unsigned* arrived) {
  __shared__ volatile unsigned word;
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  // the writing thread is in another warp than most threads
  if (threadIdx.x == blockDim.x - 1) word = blockIdx.x + 1;
  __syncthreads();
  at_first[at] = word;
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < gridDim.x) {
    }
  }
  __syncthreads();
  // every block has now written to its variable of this name
  after_all_others[at] = word;
}

__global__ void own_kernel(unsigned* in_register, unsigned* in_local_memory) {
  unsigned own = 3 * threadIdx.x + 1;
  // through opaque assembly: the compiler cannot recompute the number afterwards
  asm volatile("" : "+r"(own));
  volatile unsigned local[4];
  local[threadIdx.x % 4] = own;
  __syncthreads();
  asm volatile("" : "+r"(own));
  in_register[threadIdx.x] = own;
  in_local_memory[threadIdx.x] = local[threadIdx.x % 4];
}

__global__ void multiprocessors_kernel(unsigned* multiprocessors) {
  asm volatile("mov.u32 %0, %%smid;"
               : "=r"(multiprocessors[blockIdx.x * blockDim.x + threadIdx.x]));
  for (int i = 0; i < 20; ++i) __nanosleep(100'000);
}

__global__ void first_of_warp_kernel(unsigned* first) {
  const unsigned index = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  first[index] = __shfl_sync(0xffffffff, index, 0);
}

/// If `apart`, each half of a warp reads the clock on a path of its own.
template <bool apart>
__global__ void clock_kernel(int times, unsigned* clocks) {
  for (int i = 0; i < times; ++i) {
    unsigned now = i;
    if (apart && threadIdx.x % 32 < 16)
      asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
    else
      asm volatile("mov.u32 %0, %%clock; // another text, or the paths become one" : "=r"(now));
    clocks[i * blockDim.x + threadIdx.x] = now;
  }
}

/// One thread for each row: every element becomes the sum of those up to it.
__global__ void add_left_kernel(int rows, int columns, float* matrix) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int i = 1; i < columns; ++i) matrix[row * columns + i] += matrix[row * columns + i - 1];
}

/// S3's vector, which counts the words that a warp's lanes ask for at a time. If `apart`, they ask
/// for neighbours within a sector.
template <bool apart>
struct Watched {
  const float* words;
  unsigned *most, *loads;
  __device__ float operator[](int i) const {
    constexpr unsigned all = 0xffffffff;
    const unsigned lane = threadIdx.x % 32;
    const float* word = words + (apart ? i / 8 * 8 + lane % 8 : i);
    const unsigned alike = __match_any_sync(all, reinterpret_cast<unsigned long long>(word));
    const unsigned first =
        __ballot_sync(all, __ffs(static_cast<int>(alike)) == static_cast<int>(lane) + 1);
    if (lane == 0) {
      atomicMax(most, __popc(first));
      atomicAdd(loads, 1);
    }
    return *word;
  }
};

}  // namespace

void look_at_shared(int blocks, int threads, unsigned* at_first, unsigned* after_all_others,
                    unsigned* arrived, cudaStream_t stream) {
  void* arguments[] = {&at_first, &after_all_others, &arrived};
  // cooperative: all blocks run at the same time, or the launch fails
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(shared_kernel), dim3(blocks), dim3(threads),
                              arguments, 0, stream);
}

int blocks_at_once(int threads) {
  int device = 0, multiprocessors = 0, blocks = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared_kernel, threads, 0);
  return multiprocessors * blocks;
}

void look_at_own(int threads, unsigned* in_register, unsigned* in_local_memory,
                 cudaStream_t stream) {
  own_kernel<<<1, threads, 0, stream>>>(in_register, in_local_memory);
}

void note_multiprocessors(int blocks, int threads, unsigned* multiprocessors, cudaStream_t stream) {
  multiprocessors_kernel<<<blocks, threads, 0, stream>>>(multiprocessors);
}

void note_first_of_warp(int x, int y, int z, unsigned* first, cudaStream_t stream) {
  first_of_warp_kernel<<<1, dim3(x, y, z), 0, stream>>>(first);
}

void note_clocks(bool apart, int threads, int times, unsigned* clocks, cudaStream_t stream) {
  (apart ? clock_kernel<true> : clock_kernel<false>)<<<1, threads, 0, stream>>>(times, clocks);
}

void add_left(int rows, int columns, float* matrix, cudaStream_t stream) {
  add_left_kernel<<<(rows + 31) / 32, 32, 0, stream>>>(rows, columns, matrix);
}

void watch_vector(bool apart, int rows, int columns, const float* matrix, const float* vector,
                  float* result, unsigned* most, unsigned* loads, cudaStream_t stream) {
  const auto watch = [&](auto watched) {
    kernels::matvec::s3_transposed_kernel<0, int, unsigned, false>
        <<<rows / 32, 32, 0, stream>>>(columns, rows, rows, matrix, watched, result);
  };
  if (apart)
    watch(Watched<true>{vector, most, loads});
  else
    watch(Watched<false>{vector, most, loads});
}

}  // namespace recheck
