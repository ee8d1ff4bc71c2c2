// SPDX-License-Identifier: Apache-2.0
//
// What the documents say of variables and blocks in passing: who sees a shared variable (S0, S2),
// who a thread's own, and how many multiprocessors a launch keeps busy (S3).
#include "scope.hpp"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "../experiments/harness/cuda.hpp"
#include "../experiments/harness/target.hpp"

namespace recheck {
namespace {

/// `count` words on the device, 0 at first.
class Words {
 public:
  explicit Words(std::size_t count) : count_(count) {
    check(cudaMalloc(&data_, count * sizeof(unsigned)));
    check(cudaMemset(data_, 0, count * sizeof(unsigned)));
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() { cudaFree(data_); }
  [[nodiscard]] unsigned* data() const { return data_; }
  [[nodiscard]] std::vector<unsigned> on_host() const {
    std::vector<unsigned> words(count_);
    check(cudaGetLastError());
    check(cudaMemcpy(words.data(), data_, count_ * sizeof(unsigned), cudaMemcpyDeviceToHost));
    return words;
  }

 private:
  std::size_t count_;
  unsigned* data_ = nullptr;
};

class Scope : public testing::Test {
 protected:
  void SetUp() override {
    if (!gpu.device) GTEST_SKIP() << *gpu.reason;
  }
  const Gpu gpu = find_gpu();
};
using gpu_Shared = Scope;
using gpu_Local = Scope;
using gpu_Blocks = Scope;

constexpr int threads = 256;

TEST_F(gpu_Shared, AVariableIsSeenByAllOfItsBlockAndByNoOther) {
  const int blocks = blocks_at_once(threads);
  ASSERT_GT(blocks, 1);
  const auto count = static_cast<std::size_t>(blocks) * threads;
  const Words at_first(count), after_all_others(count), arrived(1);
  look_at_shared(blocks, threads, at_first.data(), after_all_others.data(), arrived.data(),
                 nullptr);
  const auto first = at_first.on_host(), after = after_all_others.on_host();
  ASSERT_EQ(arrived.on_host().front(), static_cast<unsigned>(blocks));
  for (std::size_t i = 0; i < count; ++i) {
    const auto own = static_cast<unsigned>(i / threads + 1);
    ASSERT_EQ(first[i], own) << "thread " << i % threads << " of block " << i / threads
                             << ", behind its own block's barrier";
    ASSERT_EQ(after[i], own) << "thread " << i % threads << " of block " << i / threads
                             << ", when all blocks had written";
  }
}

TEST_F(gpu_Local, AVariableBelongsToItsThread) {
  const Words in_register(threads), in_local_memory(threads);
  look_at_own(threads, in_register.data(), in_local_memory.data(), nullptr);
  const auto registers = in_register.on_host(), memory = in_local_memory.on_host();
  for (unsigned i = 0; i < threads; ++i) {
    EXPECT_EQ(registers[i], 3 * i + 1);
    EXPECT_EQ(memory[i], 3 * i + 1);
  }
}

/// How many multiprocessors a launch uses.
int used(int blocks, int threads_each) {
  const Words multiprocessors(blocks);
  note_multiprocessors(blocks, threads_each, multiprocessors.data(), nullptr);
  const auto each = multiprocessors.on_host();
  return static_cast<int>(std::set<unsigned>(each.begin(), each.end()).size());
}

// S3's 8192 rows, one to a thread, in its smallest sensible blocks and in the largest
TEST_F(gpu_Blocks, ReachEveryMultiprocessorWhereTheyAreAsMany) {
  const int there = gpu.device->sm_count, reached = used(8192 / 32, 32);
  RecordProperty("multiprocessors", there);
  RecordProperty("reached", reached);
  EXPECT_EQ(reached, std::min(8192 / 32, there));
}

TEST_F(gpu_Blocks, ReachNoMoreMultiprocessorsThanTheyAre) {
  const int there = gpu.device->sm_count, reached = used(8192 / 1024, 1024);
  RecordProperty("multiprocessors", there);
  RecordProperty("reached", reached);
  EXPECT_GE(reached, 1);
  EXPECT_LE(reached, 8192 / 1024);
  EXPECT_LE(reached, there);
}

}  // namespace
}  // namespace recheck
