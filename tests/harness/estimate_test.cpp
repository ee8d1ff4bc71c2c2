// SPDX-License-Identifier: Apache-2.0
//
// Compares a run's estimates of its duration with how long committed runs took.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "../../experiments/experiments.hpp"
#include "../../experiments/harness/plan/plan.hpp"
#include "../models.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

/// The GPU of a record, reduced to what an estimate needs.
Gpu gpu_of(const Json& environment) {
  Gpu gpu;
  gpu.device = device_of(environment.at("gpu"));
  return gpu;
}

/// The cases of a record in its order, as in a fresh run, and how long each took, by id.
struct Replay {
  std::vector<Case> cases;
  std::map<std::string, double> took;
  double left = 0;  // of all unfinished cases
};

Replay replay(const Json& record) {
  Replay run;
  std::map<std::string, Case> planned;
  for (const Case& c : plan(experiments(), {}).cases) planned.emplace(c.id(), c);
  for (const Json& then : record.at("cases")) {
    const auto found = planned.find(then.at("id"));
    if (found == planned.end()) continue;  // a row that has since been removed
    run.cases.push_back(found->second);
    run.left += run.took[then.at("id")] = then.at("spent");
  }
  predict(run.cases, {}, gpu_of(record.at("environment")), std::int64_t{1} << 40);
  return run;
}

TEST(Estimate, IsWithinAFifthAfterATenthOfTheCases) {
  if (!have_cuda) GTEST_SKIP() << "built without the CUDA Toolkit, whose rows it cannot expect";
  const std::filesystem::path results = std::filesystem::path(RECHECK_SOURCE) / "reports/results";
  int records = 0;
  for (const auto& folder : std::filesystem::directory_iterator(results)) {
    if (!exists(folder.path() / "record.json")) continue;  // a report of another collection
    const auto record = nlohmann::json::parse(std::ifstream(folder.path() / "record.json"));
    if (record.at("schema") != Record::schema) continue;  // an earlier one lacks these times
    Replay run = replay(record);
    // if many cases were removed, the times of the others say little
    if (100 * run.cases.size() < 99 * record.at("cases").size()) continue;
    ++records;
    const double whole = run.left;
    std::size_t done = 0;
    while (done < run.cases.size()) {
      // shape by shape, like a run
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

/// A full run's predictions for a GPU model, in seconds by case id.
std::map<std::string, double> expected_of(const std::string& model) {
  Gpu gpu;
  for (const Device& device : models())
    if (device.name == model) gpu.device = device;
  auto cases = plan(experiments(), {}).cases;
  predict(cases, {}, gpu, std::int64_t{1} << 40);
  std::map<std::string, double> seconds;
  for (const Case& c : cases) seconds[c.id()] = c.predicted;
  return seconds;
}

// 4 GB and 20 multiprocessors: what does not fit takes no time, and the rest takes longer
TEST(Estimate, DependsOnTheGpuModel) {
  if (!have_cuda) GTEST_SKIP() << "built without the CUDA Toolkit, whose rows it cannot expect";
  const auto large = expected_of("NVIDIA H200"),
             small = expected_of("NVIDIA GeForce RTX 3050 Ti Laptop GPU");
  int no_room = 0;
  for (const auto& [id, seconds] : small) no_room += seconds == 0 && large.at(id) > 0 ? 1 : 0;
  EXPECT_GT(no_room, 0);
  // only with long launches: short ones are sampled for a fixed time
  const std::string longest = "matmul/tile16/4096x4096x4096/cold";
  EXPECT_GT(small.at(longest), 1.5 * large.at(longest));
}

}  // namespace
}  // namespace recheck
