// SPDX-License-Identifier: Apache-2.0
//
// Dispatch by measurement: the nearest shape that was measured decides, on this GPU if it was.
#include "../../kernels/best.hpp"

#include <gtest/gtest.h>

#include <string>

namespace recheck::kernels {
namespace {

struct Args {
  bool odd = false;  // too odd for the choice "small"
};
void launch(const Args&, const Queue&) {}
bool not_odd(const Args& args) { return !args.odd; }

constexpr Choice<Args> choices[] = {
    {.name = "anywhere", .least = 0, .launch = launch},
    {.name = "small", .least = 75, .launch = launch, .fits = not_odd},
    {.name = "large", .least = 80, .launch = launch},
    {.name = "newest", .least = 90, .launch = launch},
    {.name = "only", .least = 90, .most = 90, .launch = launch}};
constexpr GpuModel known_gpu{90, 132, 90}, other_gpu{80, 108, 80}, old_gpu{75, 40, 75};
constexpr Fastest<2> table[] = {{known_gpu, {64, 64}, "small"},
                                {known_gpu, {64, 65536}, "newest"},
                                {known_gpu, {8192, 8192}, "large"},
                                {other_gpu, {4096, 4096}, "small"}};

std::string chosen(const GpuModel& gpu, const int (&shape)[2],
                   std::span<const Fastest<2>> known = table, const Args& args = {}) {
  return std::string(choose<Args, 2>({choices, known}, gpu, args, shape).name);
}

TEST(Best, IsWhatWasFastestWhereThatWasMeasured) {
  for (const auto& entry : table) EXPECT_EQ(chosen(entry.gpu, entry.shape), entry.name);
}

TEST(Best, IsThatOfTheNearestShapeByItsProportions) {
  EXPECT_EQ(chosen(known_gpu, {100, 100}), "small");
  EXPECT_EQ(chosen(known_gpu, {100, 30000}), "newest");
  EXPECT_EQ(chosen(known_gpu, {30000, 1000}), "large");
  EXPECT_EQ(chosen(known_gpu, {1, 1}), "small");
  EXPECT_EQ(chosen(known_gpu, {0, 0}), "small");
  // 2^31 - 1 is no overflow
  EXPECT_EQ(chosen(known_gpu, {2147483647, 2147483647}), "large");
}

TEST(Best, TellsExtentsThatVectorsDivideFromOthers) {
  constexpr Fastest<2> aligned[] = {{known_gpu, {1024, 1024}, "large"},
                                    {known_gpu, {1025, 1025}, "small"}};
  EXPECT_EQ(chosen(known_gpu, {1028, 1028}, aligned), "large");
  EXPECT_EQ(chosen(known_gpu, {1023, 1023}, aligned), "small");
}

TEST(Best, PrefersItsOwnGpusTableHoweverFarTheShape) {
  EXPECT_EQ(chosen(other_gpu, {64, 65536}), "small");
  EXPECT_EQ(chosen(known_gpu, {4096, 4096}), "large");
}

TEST(Best, TakesAnotherGpusTableForWhatItCanRun) {
  EXPECT_EQ(chosen({120, 170, 120}, {8192, 8192}), "large");
  // too old for the two nearest rows
  EXPECT_EQ(chosen(old_gpu, {8192, 8192}), "small");
  EXPECT_EQ(chosen({70, 80, 70}, {8192, 8192}), "anywhere");
}

TEST(Best, TakesNothingThatTheBuildHasNoCodeForHere) {
  constexpr GpuModel by_old_ptx{known_gpu.compute_capability, known_gpu.multiprocessors, 75};
  EXPECT_EQ(chosen(by_old_ptx, {8192, 8192}), "small");
}

TEST(Best, LeavesCodeForOneArchitectureToIt) {
  constexpr Fastest<2> only[] = {{known_gpu, {64, 64}, "only"}, {known_gpu, {8192, 8192}, "small"}};
  EXPECT_EQ(chosen(known_gpu, {64, 64}, only), "only");
  EXPECT_EQ(chosen({90, 114, 90}, {64, 64}, only), "only");
  EXPECT_EQ(chosen({100, 148, 100}, {64, 64}, only), "small");
}

TEST(Best, PassesOverWhatDoesNotTakeTheArguments) {
  EXPECT_EQ(chosen(known_gpu, {64, 64}, table, {.odd = true}), "newest");
  EXPECT_EQ(chosen(old_gpu, {64, 64}, table, {.odd = true}), "anywhere");
}

TEST(Best, OnAGpuThatRunsLessIsWhatStandsBehindTheFastestOfTheNearestShape) {
  constexpr Fastest<2> tiers[] = {{known_gpu, {64, 64}, "anywhere"},
                                  {known_gpu, {8192, 8192}, "only"},
                                  {known_gpu, {8192, 8192}, "large"},
                                  {known_gpu, {8192, 8192}, "small"}};
  EXPECT_EQ(chosen(known_gpu, {8000, 8000}, tiers), "only");
  EXPECT_EQ(chosen(other_gpu, {8000, 8000}, tiers), "large");
  EXPECT_EQ(chosen(old_gpu, {8000, 8000}, tiers), "small");
}

TEST(Best, IsTheFirstChoiceWithoutMeasurements) {
  EXPECT_EQ(chosen(known_gpu, {64, 64}, {}), "anywhere");
}

TEST(Best, TablesNameOnlyWhatThereIs) {
  EXPECT_TRUE((Rungs<Args, 2>{choices, table}.known()));
  constexpr Fastest<2> stranger[] = {{known_gpu, {1, 1}, "nobody"}};
  EXPECT_FALSE((Rungs<Args, 2>{choices, stranger}.known()));
}

}  // namespace
}  // namespace recheck::kernels
