// SPDX-License-Identifier: Apache-2.0
//
// What a call of `best` costs beside the launch that it ends in: of an empty matrix no launcher
// launches anything, and what remains is the choice.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "../../kernels/matmul/matmul.hpp"
#include "../../kernels/matvec/matvec.hpp"
#include "../../kernels/transpose/transpose.hpp"
#include "../targets.hpp"

namespace recheck {
namespace {

/// Seconds of a call, of the quickest of many batches: what other programs take is not its cost.
double seconds(auto call) {
  constexpr int batches = 50, calls = 200;
  double least = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < batches; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count() / calls);
  }
  return least;
}

constexpr double most = 2e-6;
const kernels::Queue queue;

TEST(gpu_Dispatch, OfMatmulTakesLessThanTwoMicroseconds) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  kernels::matmul::MatmulArgs args = {};
  args.n = args.k = 1000;
  const double took = seconds([&] { kernels::matmul::best(args, queue); });
  RecordProperty("nanoseconds", static_cast<int>(took * 1e9));
  EXPECT_LT(took, most);
}

// which is chosen among matvec's rungs once more
TEST(gpu_Dispatch, OfAMatrixTimesAVectorTakesLessThanTwoMicroseconds) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  const kernels::matmul::MatmulArgs column = {.n = 1, .k = 1000, .lda = 1000, .ldb = 1, .ldc = 1},
                                    row = {.m = 1, .k = 1000, .lda = 1000};
  for (const auto& args : {column, row}) {
    EXPECT_LT(seconds([&] { kernels::matmul::best(args, queue); }), most);
    EXPECT_LT(seconds([&] { kernels::matmul::matvec(args, queue); }), most);
  }
}

TEST(gpu_Dispatch, OfMatvecTakesLessThanTwoMicroseconds) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  kernels::matvec::MatvecArgs args = {};
  args.columns = 1000;
  EXPECT_LT(seconds([&] { kernels::matvec::best(args, queue); }), most);
  EXPECT_LT(seconds([&] { kernels::matvec::best_column_major(args, queue); }), most);
}

TEST(gpu_Dispatch, OfTranspositionTakesLessThanTwoMicroseconds) {
  if (const Gpu& gpu = found_gpu(); !gpu.device) GTEST_SKIP() << *gpu.reason;
  kernels::transpose::TransposeArgs args = {};
  args.columns = 1000;
  EXPECT_LT(seconds([&] { kernels::transpose::best(args, queue); }), most);
}

}  // namespace
}  // namespace recheck
