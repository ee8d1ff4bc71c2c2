// SPDX-License-Identifier: Apache-2.0
//
// What a run says of how long it will take, held against how long committed runs took.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "../../experiments/experiments.hpp"
#include "../../experiments/harness/plan.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

/// The GPU of a record, as far as an estimate needs it.
Gpu gpu_of(const Json& environment) {
  const Json& was = environment.at("gpu");
  const std::string capability = was.at("compute_capability");
  Gpu gpu;
  gpu.device = Device{.name = was.at("name"),
                      .compute_capability = std::stoi(capability) * 10 + capability.back() - '0',
                      .sm_count = was.at("sm_count"),
                      .l2_bytes = was.at("l2_bytes"),
                      .memory_bytes = was.at("memory_bytes"),
                      .shared_bytes_per_block = was.at("shared_bytes_per_block"),
                      .clock_hz = was.at("clock_hz"),
                      .memory_clock_hz = was.at("memory_clock_hz"),
                      .memory_bus_bits = was.at("memory_bus_bits")};
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
    const auto record = read_json(folder.path() / "record.json");
    if (record.at("schema") != Record::schema) continue;  // an earlier one has no such times
    ++records;
    Replay run = replay(record);
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

}  // namespace
}  // namespace recheck
