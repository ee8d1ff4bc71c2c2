// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/digits.hpp"

#include <gtest/gtest.h>

#include <locale>

namespace recheck {
namespace {

class Comma final : public std::numpunct<char> {
 protected:
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

TEST(Digits, AreTheSameUnderEveryLocale) {
  const auto before = std::locale::global(std::locale(std::locale(), new Comma));
  EXPECT_EQ(digits_of(1234.5, 6), "1234.5");
  EXPECT_EQ(digits_of(1.25e-7, 3), "1.25e-07");
  EXPECT_EQ(digits_of(1980, 3, std::chars_format::fixed), "1980.000");
  std::string rest;
  EXPECT_EQ(number_in("0.2min", rest), 0.2);
  EXPECT_EQ(rest, "min");
  EXPECT_EQ(number_in("0,2", rest), 0);
  EXPECT_EQ(rest, ",2");
  EXPECT_EQ(number_in("min", rest), 0);
  EXPECT_EQ(rest, "min");
  std::locale::global(before);
}

}  // namespace
}  // namespace recheck
