// SPDX-License-Identifier: Apache-2.0
#include "../../reference/matvec.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "../../experiments/harness/prove/inputs.hpp"
#include "../../reference/listings.hpp"

namespace recheck {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

using Product = void (*)(int, int, const float*, std::int64_t, const float*, float*);

/// A matrix, with rows unaligned by an odd leading dimension, and a vector; NaN around both.
struct Factors {
  HostMatrix a, v;
  Factors(int rows, int columns, Values values)
      : a(make_input(7, 0, rows, columns, (columns + 2) | 1, values, integer_limit(columns))),
        v(make_input(7, 1, 1, columns, columns + 1, values, integer_limit(columns))) {}
  [[nodiscard]] std::vector<float> product() const {
    std::vector<float> r(a.rows, nan);
    reference::matvec_serial(static_cast<int>(a.rows), static_cast<int>(a.columns),
                             a.elements.data(), a.ld, v.elements.data(), r.data());
    return r;
  }
  [[nodiscard]] double error(const std::vector<float>& r) const {
    return reference::MatvecOracle(a.view(), v.elements).relative_error(r.data());
  }
};

void expect_as_by_hand(Product run) {
  const float a[] = {1, 2, 3, nan, nan, 4, 5, 6, nan, nan}, v[] = {1, -1, 2};
  std::vector<float> r = {nan, nan, 42};
  run(2, 3, a, 5, v, r.data());
  EXPECT_EQ(r, (std::vector<float>{5, 11, 42}));
}
TEST(Matvec, EqualsAResultComputedByHand) {
  expect_as_by_hand(reference::matvec_serial);
#ifdef RECHECK_HAVE_BLAS
  expect_as_by_hand(reference::matvec_blas);
#endif
}

TEST(MatvecListings, AddInTheSameOrderWithAnyFlags) {
  constexpr int rows = 37, columns = 1001;
  HostMatrix a = make_input(7, 0, rows, columns, columns, Values::reals, 0);
  HostMatrix v = make_input(7, 1, 1, columns, columns, Values::reals, 0);
  // products of two 12-bit factors are exact in fp32, so fusing them into a sum changes nothing:
  // only the order can differ
  for (auto* operand : {&a, &v})
    for (auto& x : operand->elements)
      x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xfffff000u);
  std::vector<float> r(rows), r_o0(rows), general(rows);
  reference::s3_mxv(rows, columns, a.elements.data(), v.elements.data(), r.data());
  reference::s3_mxv_o0(rows, columns, a.elements.data(), v.elements.data(), r_o0.data());
  reference::matvec_serial(rows, columns, a.elements.data(), columns, v.elements.data(),
                           general.data());
  EXPECT_EQ(r, r_o0);
  EXPECT_EQ(r, general);
}

TEST(MatvecOracle, ReportsNaNAnywhere) {
  const Factors factors(9, 8, Values::reals);
  const auto right = factors.product();
  for (std::size_t i = 0; i < right.size(); ++i) {
    auto r = right;
    r[i] = nan;
    EXPECT_TRUE(std::isnan(factors.error(r))) << i;
  }
}

TEST(MatvecOracle, DetectsAnySingleWrongElement) {
  const Factors factors(9, 8, Values::integers);
  const auto right = factors.product();
  for (std::size_t i = 0; i < right.size(); ++i) {
    auto r = right;
    r[i] += 1;
    EXPECT_GT(factors.error(r), 0) << i;
    r[i] = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(factors.error(r) <= 1) << i;
  }
}

TEST(MatvecOracle, AcceptsOnlyZeroForAnEmptySum) {
  const Factors factors(3, 0, Values::reals);
  EXPECT_EQ(factors.error({0, 0, 0}), 0);
  EXPECT_FALSE(factors.error({0, 1e-30f, 0}) <= 1);
}

}  // namespace
}  // namespace recheck
