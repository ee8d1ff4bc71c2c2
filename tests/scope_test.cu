// SPDX-License-Identifier: Apache-2.0
//
// What the documents mention about variables and blocks: who sees a shared variable (S0, S2) or a
// thread's own, which threads form a warp and are scheduled as one, how many multiprocessors a
// launch reaches, and which words of the vector a warp loads at a time (S3).
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "../experiments/harness/device/cuda.hpp"
#include "../kernels/matvec/s3_transposed.cuh"
#include "targets.hpp"

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

/// `count` words on the device, initially 0.
class Words {
 public:
  explicit Words(std::size_t count) : count_(static_cast<std::int64_t>(count)) {
    target_.copy_in(words_.data(), std::vector<float>(count).data(), count_);
  }
  [[nodiscard]] unsigned* data() const { return reinterpret_cast<unsigned*>(words_.data()); }
  [[nodiscard]] std::vector<unsigned> on_host() const {
    std::vector<unsigned> words(static_cast<std::size_t>(count_));
    check(cudaGetLastError());
    target_.copy_out(reinterpret_cast<float*>(words.data()), words_.data(), count_);
    return words;
  }

 private:
  std::int64_t count_;
  Target& target_ = targets().of(Backend::gpu);
  Array words_{target_, count_};
};

using gpu_Shared = OnGpu;
using gpu_Local = OnGpu;
using gpu_Blocks = OnGpu;
using gpu_Warps = OnGpu;

constexpr int threads = 256;

/// What each thread reads of its block's shared word: after its own block's barrier, or
/// when all blocks have written to theirs. Block i writes i + 1.
enum class When { own_block_has_written, all_blocks_have_written };
void expect_own_word(When when) {
  int blocks_of_each = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_of_each, shared_kernel, threads, 0));
  const int blocks = found_gpu().device->sm_count * blocks_of_each;
  ASSERT_GT(blocks, 1);
  const auto count = static_cast<std::size_t>(blocks) * threads;
  const Words at_first(count), after_all_others(count), arrived(1);
  unsigned* words[] = {at_first.data(), after_all_others.data(), arrived.data()};
  void* arguments[] = {&words[0], &words[1], &words[2]};
  // cooperative: all blocks run at the same time, or the launch fails
  check(cudaLaunchCooperativeKernel(shared_kernel, blocks, threads, arguments));
  const auto read = (when == When::own_block_has_written ? at_first : after_all_others).on_host();
  ASSERT_EQ(arrived.on_host().front(), static_cast<unsigned>(blocks));
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(read[i], i / threads + 1) << "thread " << i % threads << " of block " << i / threads;
}

TEST_F(gpu_Shared, AVariableIsSeenByAllOfItsBlock) { expect_own_word(When::own_block_has_written); }
TEST_F(gpu_Shared, AVariableIsSeenByNoOtherBlock) {
  expect_own_word(When::all_blocks_have_written);
}

TEST_F(gpu_Local, AVariableBelongsToItsThread) {
  const Words in_register(threads), in_local_memory(threads);
  own_kernel<<<1, threads>>>(in_register.data(), in_local_memory.data());
  const auto registers = in_register.on_host(), memory = in_local_memory.on_host();
  for (unsigned i = 0; i < threads; ++i) {
    EXPECT_EQ(registers[i], 3 * i + 1);
    EXPECT_EQ(memory[i], 3 * i + 1);
  }
}

// S3: a multiprocessor gets whole blocks
TEST_F(gpu_Blocks, StayOnOneMultiprocessor) {
  const int blocks = 4 * gpu.device->sm_count;
  const Words multiprocessors(static_cast<std::size_t>(blocks) * threads);
  multiprocessors_kernel<<<blocks, threads>>>(multiprocessors.data());
  const auto each = multiprocessors.on_host();
  for (std::size_t i = 0; i < each.size(); ++i)
    ASSERT_EQ(each[i], each[i - i % threads])
        << "thread " << i % threads << " of block " << i / threads;
}

// S3's 8192 rows, one thread each, in blocks of the usual size; and its two ways to reach more
// multiprocessors: smaller blocks and more data
TEST_F(gpu_Blocks, ReachAsManyMultiprocessorsAsTheyAre) {
  for (const auto& [rows, each] :
       {std::pair{8192, 256}, {8192, 1024}, {8192, 32}, {16384, 256}, {65536, 256}}) {
    const Words multiprocessors(rows);
    multiprocessors_kernel<<<rows / each, each>>>(multiprocessors.data());
    const auto seen = multiprocessors.on_host();
    const auto reached = std::set<unsigned>(seen.begin(), seen.end()).size();
    EXPECT_EQ(reached, std::min(rows / each, gpu.device->sm_count))
        << rows << " threads in blocks of " << each;
  }
}

TEST_F(gpu_Warps, AreThirtyTwoThreadsWithConsecutiveIndices) {
  for (const auto& [x, y, z] : {std::array{1024, 1, 1}, {16, 16, 1}, {5, 4, 8}}) {
    const Words first(x * y * z);
    first_of_warp_kernel<<<1, dim3(x, y, z)>>>(first.data());
    const auto each = first.on_host();
    for (unsigned i = 0; i < each.size(); ++i) ASSERT_EQ(each[i], i / 32 * 32) << "thread " << i;
  }
}

// S3: a multiprocessor schedules warps. If it scheduled halves of a warp, as for the twin, or
// single threads, these would read different times; if it scheduled blocks, all threads would read
// the same
TEST_F(gpu_Warps, ReadTheClockTogether) {
  constexpr int block = 1024, times = 64;
  for (const bool apart : {false, true}) {
    const Words clocks(block * times);
    (apart ? clock_kernel<true> : clock_kernel<false>)<<<1, block>>>(times, clocks.data());
    const auto read = clocks.on_host();
    std::vector<std::vector<unsigned>> of(block);
    for (std::size_t i = 0; i < read.size(); ++i) of[i % block].push_back(read[i]);
    const int part = apart ? 16 : 32;
    for (int i = 1; i < block; ++i) {
      if (i % 32 == 0) continue;
      EXPECT_EQ(of[i] == of[i - 1], i % part != 0) << "thread " << i;
    }
    EXPECT_GT(std::set(of.begin(), of.end()).size(), 1U);
  }
}

/// The most words of the vector that a warp loads at a time in S3's loop.
template <bool apart>
unsigned most_words() {
  constexpr int rows = 256, columns = 96;
  const Words matrix(rows * columns), vector(columns), result(rows), most(1), loads(1);
  const auto floats = [](const Words& words) { return reinterpret_cast<float*>(words.data()); };
  const Watched<apart> watched = {floats(vector), most.data(), loads.data()};
  kernels::matvec::s3_transposed_kernel<0, int, unsigned, false>
      <<<rows / 32, 32>>>(columns, rows, rows, floats(matrix), watched, floats(result));
  EXPECT_EQ(loads.on_host().front(), rows / 32 * columns);
  return most.on_host().front();
}

// sectors cannot tell one word from the eight of a sector
TEST_F(gpu_Warps, LoadOneWordOfTheVectorAtATime) {
  EXPECT_EQ(most_words<false>(), 1U);
  EXPECT_EQ(most_words<true>(), 8U);
}

}  // namespace
}  // namespace recheck
