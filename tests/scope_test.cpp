// SPDX-License-Identifier: Apache-2.0
//
// What the documents mention about variables and blocks: who sees a shared variable (S0, S2) or a
// thread's own, which threads form a warp and are scheduled as one, how many multiprocessors a
// launch reaches, and which words of the vector a warp loads at a time (S3).
#include "scope.hpp"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "../experiments/harness/device/cuda.hpp"
#include "targets.hpp"

namespace recheck {
namespace {

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

class Scope : public testing::Test {
 protected:
  void SetUp() override {
    if (!gpu.device) GTEST_SKIP() << *gpu.reason;
  }
  const Gpu& gpu = found_gpu();
};
using gpu_Shared = Scope;
using gpu_Local = Scope;
using gpu_Blocks = Scope;
using gpu_Warps = Scope;

constexpr int threads = 256;

/// What each thread reads of its block's shared word: after its own block's barrier, or
/// when all blocks have written to theirs. Block i writes i + 1.
enum class When { own_block_has_written, all_blocks_have_written };
void expect_own_word(When when) {
  const int blocks = blocks_at_once(threads);
  ASSERT_GT(blocks, 1);
  const auto count = static_cast<std::size_t>(blocks) * threads;
  const Words at_first(count), after_all_others(count), arrived(1);
  look_at_shared(blocks, threads, at_first.data(), after_all_others.data(), arrived.data(),
                 nullptr);
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
  look_at_own(threads, in_register.data(), in_local_memory.data(), nullptr);
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
  note_multiprocessors(blocks, threads, multiprocessors.data(), nullptr);
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
    note_multiprocessors(rows / each, each, multiprocessors.data(), nullptr);
    const auto seen = multiprocessors.on_host();
    const auto reached = std::set<unsigned>(seen.begin(), seen.end()).size();
    EXPECT_EQ(reached, std::min(rows / each, gpu.device->sm_count))
        << rows << " threads in blocks of " << each;
  }
}

TEST_F(gpu_Warps, AreThirtyTwoThreadsWithConsecutiveIndices) {
  for (const auto& [x, y, z] : {std::array{1024, 1, 1}, {16, 16, 1}, {5, 4, 8}}) {
    const Words first(x * y * z);
    note_first_of_warp(x, y, z, first.data(), nullptr);
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
    note_clocks(apart, block, times, clocks.data(), nullptr);
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

// sectors cannot tell one word from the eight of a sector
TEST_F(gpu_Warps, LoadOneWordOfTheVectorAtATime) {
  constexpr int rows = 256, columns = 96;
  for (const bool apart : {false, true}) {
    const Words matrix(rows * columns), vector(columns), result(rows), most(1), loads(1);
    const auto floats = [](const Words& words) { return reinterpret_cast<float*>(words.data()); };
    watch_vector(apart, rows, columns, floats(matrix), floats(vector), floats(result), most.data(),
                 loads.data(), nullptr);
    EXPECT_EQ(loads.on_host().front(), rows / 32 * columns);
    EXPECT_EQ(most.on_host().front(), apart ? 8 : 1);
  }
}

}  // namespace
}  // namespace recheck
