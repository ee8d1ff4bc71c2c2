// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/table/shape.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace recheck {
namespace {

TEST(Shape, ReadsWhatItWrites) {
  for (const Shape& shape : {Shape{1, 2, 3}, Shape{0, 0, 0}, Shape{4096, 512, 1 << 30}})
    EXPECT_EQ(parse_shape(to_string(shape), 3), shape);
  EXPECT_EQ(parse_shape("7x5", 2), (Shape{7, 5}));
}

TEST(Shape, RefusesOtherText) {
  for (const char* text : {"", "x", "3", "3x4", "3x4x", "x3x4", "3x4x5x6", "3x-4x5", "3 x4x5",
                           "3x4x5 ", "3x4xfive", "3x4x1073741825", "3x4x99999999999999999999"})
    EXPECT_THROW(parse_shape(text, 3), std::invalid_argument) << text;
}

}  // namespace
}  // namespace recheck
