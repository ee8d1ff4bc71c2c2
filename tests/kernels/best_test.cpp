// SPDX-License-Identifier: Apache-2.0
//
// Dispatch by measurement: the nearest shape that was measured decides, on this GPU if it was; of
// products of matrices that are like none, what rungs are expected to cost.
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

TEST(Best, IsWhatComesFirstWhereThatRunsAndTakesTheArguments) {
  constexpr Choice<Args> with_first[] = {
      {.name = "anywhere", .least = 0, .launch = launch},
      {.name = "small",
       .least = 80,
       .launch = launch,
       .fits = not_odd,
       .first = [](const GpuModel& gpu, const Args&) { return gpu.multiprocessors > 100; }},
      {.name = "large", .least = 75, .launch = launch}};
  constexpr Fastest<2> always_large[] = {{known_gpu, {64, 64}, "large"}};
  const auto found = [&](const GpuModel& gpu, const Args& args = {}) {
    return std::string(choose<Args, 2>({with_first, always_large}, gpu, args, {64, 64}).name);
  };
  EXPECT_EQ(found(known_gpu), "small") << "whatever was fastest";
  EXPECT_EQ(found(known_gpu, {.odd = true}), "large") << "it does not take that";
  EXPECT_EQ(found({75, 120, 75}), "large") << "it does not run there";
  EXPECT_EQ(found({86, 20, 86}), "large") << "it is not first there";
}

struct Product {
  bool vectors = true, odd = false;
};
void multiply(const Product&, const Queue&) {}
constexpr Choice<Product> cutters[] = {
    {.name = "large", .least = 75, .plan = {128, 128, 16, 2}, .launch = multiply},
    {.name = "small", .least = 75, .plan = {16, 16, 16, 8}, .launch = multiply},
    {.name = "deep",
     .least = 80,
     .plan = {64, 64, 16, 3, 1, 400},
     .launch = multiply,
     .fits = [](const Product& p) { return !p.odd; }}};
constexpr Fastest<3> measured[] = {{known_gpu, {1000, 1000, 1000}, "small"}};
constexpr Cost costs[] = {{90, 132, "large", 3, 3, 2, 1, 2, 0, 1, 1, 0, 0},
                          {90, 132, "small", 3, 3, 0.6, 0.2, 1, 0, 1, 1, 0, 0},
                          {90, 132, "deep", 3, 3, 1, 0.8, 1, 0, 1, 1, 0, 0},
                          {75, 40, "small", 3, 3, 0.6, 0.2, 1, 0, 1, 1, 0, 0}};
constexpr Rungs<Product, 3> cut = {cutters, measured, costs,
                                   [](const Product& p) { return p.vectors; }};

std::string expected_best(const GpuModel& gpu, const int (&product)[3], const Product& args = {}) {
  return std::string(choose(cut, gpu, args, product).name);
}

TEST(Best, IsExpectedToBeTheFastestWhereNobodyHasMeasured) {
  EXPECT_EQ(expected_best(known_gpu, {4096, 4096, 4096}), "large");
  EXPECT_EQ(expected_best(known_gpu, {64, 64, 64}), "small");
  EXPECT_EQ(expected_best(known_gpu, {16, 16, 1000000}), "deep");
  // what is too deep for a float to count, and what is nothing
  EXPECT_EQ(expected_best(known_gpu, {1, 1, 2147483647}), "deep");
  EXPECT_NO_FATAL_FAILURE(expected_best(known_gpu, {0, 0, 0}));
}

TEST(Best, IsWhatWasMeasuredAtShapesThatAreVeryLikeIt) {
  EXPECT_EQ(expected_best(known_gpu, {1000, 1000, 1000}), "small");
  EXPECT_EQ(expected_best(known_gpu, {1024, 1024, 1000}), "small");
  EXPECT_EQ(expected_best(known_gpu, {1400, 1400, 1400}), "large");
  EXPECT_EQ(expected_best({86, 84, 86}, {1000, 1000, 1000}), "large") << "measured elsewhere";
}

TEST(Best, IsExpectedOnlyOfWhatRunsAndTakesTheArguments) {
  EXPECT_EQ(expected_best(known_gpu, {16, 16, 1000000}, {.odd = true}), "small");
  EXPECT_EQ(expected_best({80, 108, 75}, {16, 16, 1000000}), "small");
}

TEST(Best, GoesByTheCostsOfTheGpuThatIsMostLikeThisOne) {
  EXPECT_EQ(expected_best({75, 72, 75}, {4096, 4096, 4096}), "small") << "all that it knows";
  EXPECT_EQ(expected_best({86, 28, 86}, {4096, 4096, 4096}), "large");
}

TEST(Best, CountsSlabsBlocksAndWaves) {
  constexpr Plan whole = {64, 64, 16, 2}, even = {128, 128, 16, 1, 1, 0, true};
  constexpr Cost cost = {90, 132, "", 5, 4, 2, 1, 2, 0, 1, 0.25, 0, 0};
  // one tile of 10 slabs, alone; 256 tiles, two to a multiprocessor; where vectors do not fit
  EXPECT_FLOAT_EQ(expected(whole, cost, 132, true, {64, 64, 160}), 5 + 10 * 2);
  EXPECT_FLOAT_EQ(expected(whole, cost, 132, true, {1024, 1024, 160}), 5 + 10 * 3);
  EXPECT_FLOAT_EQ(expected(whole, cost, 132, false, {1024, 1024, 160}), 5 + 10 * 6);
  EXPECT_FLOAT_EQ(expected(whole, cost, 132, false, {64, 64, 160}), 5 + 10 * 4);
  // 11 slabs, half of the last beyond k, at a quarter of what it would take
  EXPECT_FLOAT_EQ(expected(whole, cost, 132, true, {64, 64, 168}), 5 + 10.625F * 2);
  // on 50 there are 6 at most: three times two
  EXPECT_FLOAT_EQ(expected(whole, cost, 50, true, {1024, 1024, 160}), 5 + 10 * 9);
  // two launches; 1000 slabs fall to 100 multiprocessors
  EXPECT_FLOAT_EQ(expected(even, cost, 100, true, {1, 1, 16000}), 5 + 4 + 10 * 2);
  // eight warps share a tile's slabs, and so do 4 blocks, which add by themselves or not
  constexpr Plan cluster = {16, 32, 16, 2, 1, 0, false, 4},
                 blocks = {16, 32, 16, 2, 1, 4, false, 1};
  EXPECT_FLOAT_EQ(expected(cluster, cost, 132, true, {1, 1, 5120}), 5 + 10 * 2);
  EXPECT_FLOAT_EQ(expected(blocks, cost, 132, true, {1, 1, 5120}), 5 + 4 + 10 * 2);
  // 32 clusters are 128 blocks, for which 132 multiprocessors have no room at a time
  EXPECT_FLOAT_EQ(expected(cluster, cost, 132, true, {512, 32, 5120}), 5 + 10 * 3);
  EXPECT_FLOAT_EQ(expected(cluster, cost, 132, true, {496, 32, 5120}), 5 + 10 * 2);
  // one slab a warp, for which a cluster is worth while and a second launch is not
  EXPECT_FLOAT_EQ(expected(cluster, cost, 132, true, {1, 1, 512}), 5 + 1 * 2);
  EXPECT_FLOAT_EQ(expected(blocks, cost, 132, true, {1, 1, 512}), 5 + 4 + 2 * 2);
  EXPECT_FLOAT_EQ(expected(blocks, cost, 132, true, {1, 1, 256}), 5 + 2 * 2);
  // of 64 tiles with 3906.25 outputs two fall to one of 50; words that are no whole vectors are
  // stored beside other blocks' slabs, if these take as long
  constexpr Cost stores = {90, 132, "", 5, 4, 2, 1, 2, 0.1, 3, 1, 0, 0};
  constexpr auto most = 2 * 3.90625F;
  EXPECT_FLOAT_EQ(expected(whole, stores, 50, true, {500, 500, 1}), 5 + 3 + most * 0.1);
  EXPECT_FLOAT_EQ(expected(whole, stores, 50, true, {1000, 250, 1}), 5 + most * 3 + most * 0.1);
  EXPECT_FLOAT_EQ(expected(whole, stores, 50, true, {1000, 250, 160}), 5 + 30 + most * 0.1);
  EXPECT_FLOAT_EQ(expected(even, stores, 50, true, {1000, 1000, 16}),
                  5 + 4 + 2 * 2 + 2 * 15.625F * 0.1);
  // three waves, of which the first two are two blocks to each multiprocessor
  constexpr Cost waves = {90, 132, "", 5, 4, 2, 1, 2, 0, 1, 1, 0, 0.5};
  EXPECT_FLOAT_EQ(expected(whole, waves, 1, true, {64, 64 * 5, 160}),
                  5 + 10 * (3 + 3 + 2) + 2 * 0.5);
  EXPECT_FLOAT_EQ(expected(whole, waves, 1, true, {64, 64, 160}), 5 + 10 * 2);
  // three million words of A and B, besides 63 slabs of four blocks
  constexpr Cost reads = {90, 132, "", 5, 4, 2, 1, 2, 0, 1, 1, 2, 0};
  EXPECT_FLOAT_EQ(expected(whole, reads, 132, true, {2000, 1000, 1000}), 5 + 63 * 6 + 3 * 2);
}

TEST(Best, TablesNameOnlyWhatThereIs) {
  EXPECT_TRUE((Rungs<Args, 2>{choices, table}.known()));
  constexpr Fastest<2> stranger[] = {{known_gpu, {1, 1}, "nobody"}};
  EXPECT_FALSE((Rungs<Args, 2>{choices, stranger}.known()));
  EXPECT_TRUE(cut.known());
  constexpr Cost strange[] = {{90, 132, "nobody", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
  EXPECT_FALSE((Rungs<Product, 3>{cutters, measured, strange}.known()));
}

}  // namespace
}  // namespace recheck::kernels
