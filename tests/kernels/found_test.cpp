// SPDX-License-Identifier: Apache-2.0
#include "../../kernels/found.hpp"

#include <gtest/gtest.h>

namespace recheck::kernels {
namespace {

int one() { return 1; }

TEST(Found, IsLookedForUntilItIsThere) {
  Found<int (*)()> known;
  int looked = 0;
  const auto look = [&]() -> int (*)() { return ++looked < 3 ? nullptr : one; };
  EXPECT_EQ(known.get(look), nullptr);
  EXPECT_EQ(known.get(look), nullptr);
  EXPECT_EQ(known.get(look), one);
  EXPECT_EQ(looked, 3);
}

TEST(Found, IsNotLookedForAgain) {
  Found<int (*)()> known;
  EXPECT_EQ(known.get([]() -> int (*)() { return one; }), one);
  EXPECT_EQ(known.get([]() -> int (*)() { return nullptr; }), one);
}

}  // namespace
}  // namespace recheck::kernels
