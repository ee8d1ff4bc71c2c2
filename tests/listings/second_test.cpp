// SPDX-License-Identifier: Apache-2.0
//
// The rows that are to be a document's listing decide verdicts, so each was written a second time,
// from the documents alone, by someone who had not seen the first. The two have to compute the same
// and to take the same time; where they do not, one of them is not what the document prints.
#include "second.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "../../experiments/harness/cuda.hpp"
#include "../../experiments/harness/inputs.hpp"
#include "../../kernels/matmul/matmul.hpp"
#include "../../kernels/matvec/matvec.hpp"
#include "../../kernels/transpose/transpose.hpp"
#include "../targets.hpp"

namespace recheck {
namespace {

namespace mm = kernels::matmul;
namespace mv = kernels::matvec;
namespace tr = kernels::transpose;

constexpr int width = 1024, side = 8192;  // of products of matrices, and of what has one matrix
constexpr std::int64_t largest = std::int64_t{side} * side;

/// Device memory for a listing: two inputs and an output.
struct Data {
  const float *first, *second;
  float* out;
};

/// A listing in both transcriptions, on the same data; extent: elements of an input and the output.
struct Listing {
  std::string name;
  std::int64_t extent, outputs;
  std::function<void(const Data&, cudaStream_t)> row, again;
};

template <auto row, auto again>
Listing product(const char* name) {
  return {name, std::int64_t{width} * width, std::int64_t{width} * width,
          [](const Data& d, cudaStream_t stream) {
            row({width, width, width, d.first, width, d.second, width, d.out, width}, stream);
          },
          [](const Data& d, cudaStream_t stream) {
            again(d.first, d.second, d.out, width, width, width, stream);
          }};
}

template <auto row, auto again>
Listing matrix_vector(const char* name) {
  return {name, std::int64_t{side} * side, side,
          [](const Data& d, cudaStream_t stream) {
            row({side, side, d.first, std::int64_t{side} * 4, d.second, d.out}, stream);
          },
          [](const Data& d, cudaStream_t stream) {
            again(d.first, d.second, d.out, side, side, side, 256, stream);
          }};
}

template <auto row, auto again>
Listing transposition(const char* name) {
  return {name, std::int64_t{side} * side, std::int64_t{side} * side,
          [](const Data& d, cudaStream_t stream) {
            row({side, side, d.first, side, d.out, side, 1}, stream);
          },
          [](const Data& d, cudaStream_t stream) { again(d.first, d.out, side, side, 1, stream); }};
}

// clang-format off
const Listing listings[] = {
    product<mm::s0_tiles, second::s0_tiles>("s0_tiles"),
    product<mm::s0_tiles_depth4, second::s0_tiles_depth4>("s0_tiles_depth4"),
    product<mm::s1_kernel_0, second::s1_kernel_0>("s1_kernel_0"),
    product<mm::s1_kernel_1, second::s1_kernel_1>("s1_kernel_1"),
    product<mm::s2_global, second::s2_global>("s2_global"),
    product<mm::s2_shared, second::s2_shared>("s2_shared"),
    matrix_vector<mv::s3_naive<256, 4>, second::s3_naive>("s3_naive"),
    matrix_vector<mv::s3_transposed<256, 0, 32>, second::s3_transposed>("s3_transposed"),
    matrix_vector<mv::s3_constant<256, 0>, second::s3_constant>("s3_constant"),
    matrix_vector<mv::s3_shared<256, 8, 256, 32>, second::s3_shared>("s3_shared"),
    matrix_vector<mv::s3_block_per_row<256>, second::s3_block_per_row>("s3_block_per_row"),
    matrix_vector<mv::s3_warp_per_row<256>, second::s3_warp_per_row>("s3_warp_per_row"),
    transposition<tr::sdk_copy, second::sdk_copy>("sdk_copy"),
    transposition<tr::sdk_copy_shared, second::sdk_copy_shared>("sdk_copy_shared"),
    transposition<tr::sdk_naive, second::sdk_naive>("sdk_naive"),
    transposition<tr::sdk_coalesced, second::sdk_coalesced>("sdk_coalesced"),
    transposition<tr::sdk_no_bank_conflicts, second::sdk_no_bank_conflicts>("sdk_no_bank_conflicts"),
    transposition<tr::sdk_coarse_grained, second::sdk_coarse_grained>("sdk_coarse_grained"),
    transposition<tr::sdk_fine_grained, second::sdk_fine_grained>("sdk_fine_grained"),
    transposition<tr::sdk_diagonal, second::sdk_diagonal>("sdk_diagonal"),
};
// clang-format on

class SecondTranscription : public testing::TestWithParam<Listing> {
 protected:
  void SetUp() override {
    if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
    const auto& listing = GetParam();
    // one pair for all: to make it takes longer than most listings' tests
    static const auto inputs = make_input(13, 0, 2, largest, largest, Values::reals, 1);
    const std::size_t bytes = listing.extent * sizeof(float);
    for (int i = 0; i < 2; ++i) {
      check(cudaMalloc(&input_[i], bytes));
      check(cudaMemcpy(input_[i], inputs.elements.data() + i * largest, bytes,
                       cudaMemcpyHostToDevice));
    }
    check(cudaMalloc(&out_, listing.outputs * sizeof(float)));
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  void TearDown() override {
    for (float* memory : {input_[0], input_[1], out_}) cudaFree(memory);
    if (begin_ != nullptr) cudaEventDestroy(begin_);
    if (end_ != nullptr) cudaEventDestroy(end_);
  }

  std::vector<float> result(const std::function<void(const Data&, cudaStream_t)>& launch) {
    const std::size_t bytes = GetParam().outputs * sizeof(float);
    check(cudaMemset(out_, 0xff, bytes));  // NaN
    launch(data(), nullptr);
    check(cudaGetLastError());
    std::vector<float> found(GetParam().outputs);
    check(cudaMemcpy(found.data(), out_, bytes, cudaMemcpyDeviceToHost));
    return found;
  }

  /// Seconds of a launch, of several back to back.
  double seconds(const std::function<void(const Data&, cudaStream_t)>& launch) {
    constexpr int launches = 8;
    check(cudaEventRecord(begin_));
    for (int i = 0; i < launches; ++i) launch(data(), nullptr);
    check(cudaEventRecord(end_));
    check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds / (1e3 * launches);
  }

 private:
  [[nodiscard]] Data data() const { return {input_[0], input_[1], out_}; }
  float* input_[2] = {};
  float* out_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

TEST_P(SecondTranscription, ComputesTheSame) {
  const auto row = result(GetParam().row), again = result(GetParam().again);
  int different = 0;
  // sums of up to 8192 products from (-1/4, 1/4), perhaps in another order; NaN is a difference
  for (std::size_t i = 0; i < row.size(); ++i)
    different += static_cast<int>(!(std::abs(row[i] - again[i]) <= 1e-3));
  EXPECT_EQ(different, 0) << "of " << row.size() << " elements";
}

TEST_P(SecondTranscription, TakesTheSameTime) {
  const auto& [name, extent, outputs, row, again] = GetParam();
  for (int i = 0; i < 3; ++i) {  // the clock rises
    seconds(row);
    seconds(again);
  }
  constexpr int rounds = 41;
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    // in turns, and either first as often
    const bool swapped = round % 2 == 1;
    const double first = seconds(swapped ? again : row), then = seconds(swapped ? row : again);
    ratios.push_back(swapped ? then / first : first / then);
  }
  std::ranges::nth_element(ratios, ratios.begin() + rounds / 2);
  const double median = ratios[rounds / 2];
  std::printf("%s takes %.4f times as long as its second transcription\n", name.c_str(), median);
  EXPECT_NEAR(median, 1, 0.02) << name << ": the row takes " << median << " times as long";
}

INSTANTIATE_TEST_SUITE_P(gpu, SecondTranscription, testing::ValuesIn(listings),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace recheck
