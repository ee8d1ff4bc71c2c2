// SPDX-License-Identifier: Apache-2.0
//
// The harness's folders are floors: a file includes only files of its own floor and of lower ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "../../experiments/harness/self/self.hpp"
#include "../../experiments/transpose/transpose.hpp"

namespace recheck {
namespace {

constexpr std::array floors = {"base", "table", "self",  "device", "case",
                               "keep", "plan",  "prove", "time",   "run"};

std::ptrdiff_t floor_of(const std::filesystem::path& folder) {
  const auto found = std::ranges::find(floors, folder.filename().string());
  return found == floors.end() ? -1 : found - floors.begin();
}

TEST(Floors, IncludeNoFileOfAHigherFloor) {
  const auto harness = std::filesystem::path(RECHECK_SOURCE) / "experiments/harness";
  int includes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(harness)) {
    if (!entry.is_regular_file()) continue;
    const auto folder = entry.path().parent_path();
    ASSERT_GE(floor_of(folder), 0) << entry.path() << " is on no floor";
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("#include \"")) continue;
      const auto included = (folder / line.substr(10, line.size() - 11)).lexically_normal();
      if (included.parent_path().parent_path() != harness) continue;
      ++includes;
      EXPECT_LE(floor_of(included.parent_path()), floor_of(folder)) << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(includes, 100);
}

TEST(Self, IsInEveryProgramAndReservesItsNames) {
  const Experiment mine = transpose::experiment(transpose::ladder());
  const auto all = with_self({&mine, 1});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[1].self && all[2].self);
  EXPECT_EQ(with_self(all).size(), 3U);
  for (const auto& self : {all[1], all[2]}) {
    Experiment other = mine;
    other.name = self.name;
    EXPECT_THROW(with_self({&other, 1}), std::invalid_argument) << self.name;
  }
}

}  // namespace
}  // namespace recheck
