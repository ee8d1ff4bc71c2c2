// SPDX-License-Identifier: Apache-2.0
#include "../../kernels/code.hpp"

#include <gtest/gtest.h>

namespace recheck::kernels {
namespace {

constexpr int none = 0;

/// The architecture of the device's code: positive for machine code, negative for PTX.
int code(std::string_view architectures, int compute_capability) {
  const auto found = code_for(architectures, compute_capability);
  if (!found) return none;
  return found->machine ? found->made_for : -found->made_for;
}

TEST(Code, IsMachineCodeForTheSameMajorVersionUpToTheDevices) {
  EXPECT_EQ(code("90", 90), 90);
  EXPECT_EQ(code("80-real", 86), 80);
  EXPECT_EQ(code("75;80-real;120", 89), 80);
  EXPECT_EQ(code("75,80-real,120", 89), 80);
  EXPECT_EQ(code("80-real;86-real", 89), 86);
  EXPECT_EQ(code("86-real;80-real", 89), 86);
  EXPECT_EQ(code("86-real", 80), none);
  EXPECT_EQ(code("80-real", 90), none);
}

TEST(Code, OtherwiseIsTheNewestPtxThatTheDeviceCanRun) {
  EXPECT_EQ(code("75", 90), -75);
  EXPECT_EQ(code("80;75", 90), -80);
  EXPECT_EQ(code("75-virtual;86-real", 80), -75);
  EXPECT_EQ(code("90-virtual", 90), -90);
  EXPECT_EQ(code("90-virtual;90a-real", 90), 90);
  EXPECT_EQ(code("90-virtual;90a-real", 100), -90);
  EXPECT_EQ(code("75-virtual;90a-real", 100), -75);
  EXPECT_EQ(code("120", 90), none);
}

TEST(Code, OfOneArchitectureOrFamilyRunsOnNoOther) {
  EXPECT_EQ(code("90a", 90), 90);
  EXPECT_EQ(code("90a-virtual", 90), -90);
  EXPECT_EQ(code("90a", 100), none);
  EXPECT_EQ(code("100a", 103), none);
  EXPECT_EQ(code("100f", 103), 100);
  EXPECT_EQ(code("100f-virtual", 103), -100);
  EXPECT_EQ(code("100f", 120), none);
}

TEST(Code, IsUnknownForAnArchitectureGivenAsAWord) {
  for (const char* word : {"", "OFF", "all", "native"}) EXPECT_EQ(code(word, 90), none) << word;
}

}  // namespace
}  // namespace recheck::kernels
