// SPDX-License-Identifier: Apache-2.0
//
// Properties that the documents' listings share, in addition to being right.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "../experiments/harness/prove/operands.hpp"
#include "../experiments/matmul/matmul.hpp"
#include "../kernels/matmul/matmul.hpp"
#include "../reference/error.hpp"
#include "../reference/matmul.hpp"
#include "targets.hpp"

namespace recheck {
namespace {

/// The m×n output of a row for a shape's inputs.
std::vector<float> left_by(std::string_view name, const Shape& shape, Target& target) {
  const auto table = matmul::ladder();
  const auto row = std::ranges::find(table, name, &Strategy::name);
  const Experiment experiment = matmul::experiment({&*row, 1});
  Operands operands(experiment, shape, target, 0, 1);
  std::vector<float> output(shape[0] * shape[1]);
  // clears the previous output, which might be right
  operands.prepare(*row, operands.reals());
  operands.launch(*row, operands.reals())();
  target.synchronize();
  target.copy_out(output.data(), operands.guarded_output() + guard, std::ssize(output));
  return output;
}

using gpu_Listings = OnGpu;
// S1 sums sub-blocks in one register, in the same order
TEST_F(gpu_Listings, OfS1LeaveTheSameBits) {
  Target& target = targets().of(Backend::gpu);
  for (const Shape& shape : {Shape{80, 48, 64}, Shape{1024, 1024, 1024}}) {
    const auto version_0 = left_by("s1_kernel_0", shape, target);
    const auto version_1 = left_by("s1_kernel_1", shape, target);
    EXPECT_EQ(std::memcmp(version_0.data(), version_1.data(), version_0.size() * sizeof(float)), 0)
        << to_string(shape);
  }
}

using Launch = void (*)(const kernels::matmul::MatmulArgs&, cudaStream_t);
using Numbers = std::vector<float>;

/// The m×n product that a kernel computes of packed matrices.
Numbers product(Launch launch, int m, int n, int k, const Numbers& a, const Numbers& b) {
  Target& target = targets().of(Backend::gpu);
  const Array on_a(target, std::ssize(a)), on_b(target, std::ssize(b)), on_c(target, m * n);
  target.copy_in(on_a.data(), a.data(), std::ssize(a));
  target.copy_in(on_b.data(), b.data(), std::ssize(b));
  launch({m, n, k, on_a.data(), k, on_b.data(), n, on_c.data(), n}, target.queue().stream);
  target.synchronize();
  Numbers c(m * n);
  target.copy_out(c.data(), on_c.data(), std::ssize(c));
  return c;
}

/// How many elements of a product change their bits where all other elements are NaN, as are the
/// rows of A and the columns of B that only those need.
int changed_without_the_others(Launch launch) {
  constexpr int m = 32, n = 48, k = 16;
  std::mt19937 random(13);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Numbers a(m * k), b(k * n);
  for (float& each : a) each = uniform(random);
  for (float& each : b) each = uniform(random);
  const Numbers whole = product(launch, m, n, k, a, b);
  int changed = 0;
  for (int at = 0; at < m * n; ++at) {
    const int row = at / n, column = at % n;
    Numbers left(a.size(), NAN), right(b.size(), NAN);
    for (int i = 0; i < k; ++i) {
      left[row * k + i] = a[row * k + i];
      right[i * n + column] = b[i * n + column];
    }
    Numbers alone = product(launch, m, n, k, left, right);
    changed += std::bit_cast<unsigned>(alone[at]) != std::bit_cast<unsigned>(whole[at]) ? 1 : 0;
    alone[at] = NAN;
    EXPECT_TRUE(std::ranges::all_of(alone, [](float each) { return std::isnan(each); }));
  }
  return changed;
}

// S1: the elements of C are hardly coupled; S2: they are computed independently. In the twin each
// takes the sum of those to its left, so only the first column stands alone
TEST_F(gpu_Listings, ComputeEachElementWithoutTheOthers) {
  EXPECT_EQ(changed_without_the_others(kernels::matmul::s1_kernel_0<>), 0);
  EXPECT_EQ(changed_without_the_others(kernels::matmul::s2_global), 0);
  const auto from_the_left = [](const kernels::matmul::MatmulArgs& args, cudaStream_t stream) {
    kernels::matmul::s2_global(args, stream);
    Target& target = targets().of(Backend::gpu);
    target.synchronize();
    const std::int64_t count = std::int64_t{args.m} * args.n;
    std::vector<float> c(count);
    target.copy_out(c.data(), args.c, count);
    for (std::int64_t i = 0; i < count; ++i)
      if (i % args.n != 0) c[i] += c[i - 1];
    target.copy_in(args.c, c.data(), count);
  };
  EXPECT_EQ(changed_without_the_others(from_the_left), 32 * 47);
}

/// The largest difference between S1's kernel and its CPU program, as its checkError computes it:
/// 64×64 sums of products of numbers from [0, 1).
double largest_difference(int terms) {
  constexpr int side = 64;
  std::mt19937 random(13);
  std::uniform_real_distribution<float> uniform(0, 1);
  Numbers a(side * terms), b(terms * side), cpu(side * side);
  for (float& each : a) each = uniform(random);
  for (float& each : b) each = uniform(random);
  reference::matmul_serial(side, side, terms, a.data(), terms, b.data(), side, cpu.data(), side);
  const Numbers gpu = product(kernels::matmul::s1_kernel_1, side, side, terms, a, b);
  double largest = 0;
  for (std::size_t i = 0; i < cpu.size(); ++i)
    largest = reference::worse(largest, std::abs(static_cast<double>(gpu[i]) - cpu[i]));
  return largest;
}

using gpu_S1sTolerance = OnGpu;

// the limit is 0.001 for any sum (C21): one more rounding of a sum beyond 16384 exceeds it
TEST_F(gpu_S1sTolerance, AcceptsSumsOf80Products) { EXPECT_LE(largest_difference(80), 1e-3); }
TEST_F(gpu_S1sTolerance, AcceptsSumsOf1024Products) { EXPECT_LE(largest_difference(1024), 1e-3); }
TEST_F(gpu_S1sTolerance, AcceptsSumsOf4096Products) { EXPECT_LE(largest_difference(4096), 1e-3); }
TEST_F(gpu_S1sTolerance, AcceptsSumsOf8192Products) { EXPECT_LE(largest_difference(8192), 1e-3); }
TEST_F(gpu_S1sTolerance, RefusesSumsOf65536Products) { EXPECT_GT(largest_difference(65536), 1e-3); }

}  // namespace
}  // namespace recheck
