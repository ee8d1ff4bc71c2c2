// SPDX-License-Identifier: Apache-2.0
#include "../../reference/transpose.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "../../experiments/harness/prove/inputs.hpp"

namespace recheck {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(TransposeSerial, EqualsAResultComputedByHand) {
  const float in[] = {1, 2, 3, nan, 4, 5, 6, nan};
  std::vector<float> out(9, 42);
  reference::transpose_serial(2, 3, in, 4, out.data(), 3);
  EXPECT_EQ(out, (std::vector<float>{1, 4, 42, 2, 5, 42, 3, 6, 42}));
}

/// A ragged matrix of more than one tile each way, and the number of its elements that differ from
/// the original.
struct Compared {
  HostMatrix truth = make_input(7, 0, 33, 65, 68, Values::reals, 0), matrix = truth;
  [[nodiscard]] std::int64_t differences() const {
    return reference::count_differences(
        matrix.view(), [this](std::int64_t i, std::int64_t j) { return truth.view().row(i)[j]; });
  }
};

TEST(CountDifferences, CountsEachWrongElementOnce) {
  Compared compared;
  std::int64_t wrong = 0;
  for (const auto& [i, j] : {std::pair{0, 0}, {0, 64}, {31, 31}, {32, 32}, {32, 64}}) {
    float& element = compared.matrix.elements[i * compared.matrix.ld + j];
    element = wrong % 2 == 0 ? nan : element + 0x1p-24f;
    EXPECT_EQ(compared.differences(), ++wrong);
  }
}

TEST(CountDifferences, ComparesBits) {
  const float zero[] = {0.0f, -0.0f, nan};
  const auto is = [&](float expected) {
    return reference::count_differences({1, 3, zero, 3},
                                        [=](std::int64_t, std::int64_t) { return expected; });
  };
  EXPECT_EQ(is(0.0f), 2);
  EXPECT_EQ(is(-0.0f), 2);
  EXPECT_EQ(is(nan), 2) << "the expected NaN counted as a difference";
}

TEST(CountDifferences, IgnoresWhatIsOutside) {
  Compared compared;
  for (std::int64_t i = 0; i < 33; ++i) compared.matrix.elements[i * 68 + 65] = 1;
  EXPECT_EQ(compared.differences(), 0);
  const auto anything = [](std::int64_t, std::int64_t) { return 1.0f; };
  EXPECT_EQ(reference::count_differences({0, 5, nullptr, 5}, anything), 0);
  EXPECT_EQ(reference::count_differences({5, 0, nullptr, 1}, anything), 0);
}

}  // namespace
}  // namespace recheck
