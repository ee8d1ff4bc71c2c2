// SPDX-License-Identifier: Apache-2.0
//
// What a run says of how long it will take, held against how long committed runs took.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "../../experiments/experiments.hpp"
#include "../../experiments/harness/plan.hpp"
#include "../../experiments/harness/untrusted.hpp"
#include "../models.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

/// The GPU of a record, as far as an estimate needs it.
Gpu gpu_of(const Json& environment) {
  Gpu gpu;
  gpu.device = device_of(environment.at("gpu"));
  return gpu;
}

/// The cases of a record in its order, as a run without an earlier record begins with them, and how
/// long each took by its id.
struct Replay {
  std::vector<Case> cases;
  std::map<std::string, double> took;
  double left = 0;  // of all that is not done
};

Replay replay(const Json& record) {
  Replay run;
  std::map<std::string, Case> planned;
  for (const Case& c : plan(experiments(), {}).cases) planned.emplace(c.id(), c);
  for (const Json& then : record.at("cases")) {
    const auto found = planned.find(then.at("id"));
    if (found == planned.end()) continue;  // a row that there was at the time
    run.cases.push_back(found->second);
    run.left += run.took[then.at("id")] = then.at("spent");
  }
  predict(run.cases, {}, gpu_of(record.at("environment")), nullptr);
  return run;
}

TEST(Estimate, IsWithinAFifthAfterATenthOfTheCases) {
  if (!have_cuda) GTEST_SKIP() << "built without the CUDA Toolkit, whose rows it cannot expect";
  const std::filesystem::path results = std::filesystem::path(RECHECK_SOURCE) / "reports/results";
  int records = 0;
  for (const auto& folder : std::filesystem::directory_iterator(results)) {
    if (!exists(folder.path() / "record.json")) continue;  // reports of another collection
    const auto record = read_json(folder.path() / "record.json");
    if (record.at("schema") != Record::schema) continue;  // an earlier one has no such times
    Replay run = replay(record);
    // what rows took that are no longer there says nothing of those that are
    if (run.cases.size() < record.at("cases").size()) continue;
    ++records;
    const double whole = run.left;
    std::size_t done = 0;
    while (done < run.cases.size()) {
      // shape by shape, as a run goes
      const Case& first = run.cases[done];
      for (; done < run.cases.size() && run.cases[done].experiment == first.experiment &&
             run.cases[done].shape == first.shape;
           ++done) {
        Case& c = run.cases[done];
        c.result = Result{Status::passed, {}, {}};
        c.spent = run.took.at(c.id());
        run.left -= c.spent;
      }
      if (10 * done < run.cases.size()) continue;
      const double says =
          whole - run.left + expected(run.cases, [](const Case& c) { return !c.result; });
      EXPECT_NEAR(says, whole, 0.2 * whole)
          << folder.path() << " after " << done << " of " << run.cases.size() << " cases";
    }
  }
  if (records == 0) GTEST_SKIP() << "no committed record says what its cases took";
}

/// What a full run expects of a model, in seconds by the id of a case, and where it has no room.
struct Expectation {
  std::map<std::string, double> seconds;
  std::vector<std::string> no_room;
};
Expectation expected_of(const std::string& model) {
  Gpu gpu;
  for (const Device& device : models())
    if (device.name == model) gpu.device = device;
  auto cases = plan(experiments(), {}).cases;
  predict(cases, {}, gpu, nullptr);
  Expectation all;
  all.no_room = expect_no_room(cases, gpu, std::int64_t{1} << 40);
  for (const Case& c : cases) all.seconds[c.id()] = c.predicted;
  return all;
}

// 4 GB and 20 multiprocessors: what does not fit is named, and what is left takes longer
TEST(Estimate, IsOfTheModelAtHand) {
  if (!have_cuda) GTEST_SKIP() << "built without the CUDA Toolkit, whose rows it cannot expect";
  const auto large = expected_of("NVIDIA H200"),
             small = expected_of("NVIDIA GeForce RTX 3050 Ti Laptop GPU");
  EXPECT_TRUE(large.no_room.empty()) << large.no_room.front();
  ASSERT_FALSE(small.no_room.empty());
  for (const auto& line : small.no_room)
    EXPECT_NE(line.find("GB of device memory, 4.29 GB are free"), std::string::npos) << line;
  // where a launch is long, as samples of short ones are taken until a time is up
  const std::string longest = "matmul/tile16/4096x4096x4096/cold";
  EXPECT_GT(small.seconds.at(longest), 1.5 * large.seconds.at(longest));
}

// what cannot be measured makes no case that can be give way
TEST(Estimate, OfABudgetLeavesOutWhatHasNoRoomAnyhow) {
  Gpu gpu;
  for (const Device& device : models())
    if (device.memory_bytes < 5e9) gpu.device = device;
  ASSERT_TRUE(gpu.device);
  auto cases = plan(experiments(), {}).cases;
  predict(cases, {}, gpu, nullptr);
  expect_no_room(cases, gpu, std::int64_t{1} << 40);
  const double all = predicted(cases, [](const Case&) { return true; });
  const auto planned = cases.size();
  EXPECT_TRUE(fit(cases, all + 1, "enough").empty());
  EXPECT_EQ(cases.size(), planned);
}

}  // namespace
}  // namespace recheck
