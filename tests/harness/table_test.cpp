// SPDX-License-Identifier: Apache-2.0
//
// What every table promises: one name everywhere, a file for each GPU row and a row for each file.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>

#include "../../experiments/harness/record.hpp"

namespace recheck {
namespace {

/// tile16_depth4 belongs to the file tile: the name up to where its numbers or its variant begin.
bool belongs(std::string_view strategy, const std::string& stem) {
  if (!strategy.starts_with(stem)) return false;
  const auto rest = strategy.substr(stem.size());
  return rest.empty() || rest[0] == '_' || std::isdigit(static_cast<unsigned char>(rest[0])) != 0;
}

std::set<std::string> kernel_files(const Experiment& experiment) {
  std::set<std::string> stems;
  const auto folder = std::filesystem::path(RECHECK_SOURCE) / "kernels" / experiment.name;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cu" || entry.path().extension() == ".cpp")
      stems.insert(entry.path().stem().string());
  return stems;
}

TEST(Tables, HaveARowForEveryKernelFile) {
  for (const auto& experiment : experiments())
    for (const auto& stem : kernel_files(experiment))
      EXPECT_TRUE(std::ranges::any_of(experiment.ladder,
                                      [&](const Strategy& s) { return belongs(s.name, stem); }))
          << "kernels/" << experiment.name << "/" << stem << " has no row in its ladder";
}

TEST(Tables, HaveAKernelFileForEveryGpuRow) {
  for (const auto& experiment : experiments()) {
    const auto stems = kernel_files(experiment);
    for (const auto& strategy : experiment.ladder) {
      if (strategy.launch.backend != Backend::gpu) continue;
      EXPECT_TRUE(std::ranges::any_of(stems, [&](const std::string& stem) {
        return belongs(strategy.name, stem);
      })) << strategy.name;
    }
  }
}

TEST(Tables, NameEachRowOnceInSnakeCase) {
  for (const auto& experiment : experiments()) {
    std::set<std::string_view> names;
    for (const auto& strategy : experiment.ladder) {
      EXPECT_TRUE(names.insert(strategy.name).second) << strategy.name << " stands there twice";
      EXPECT_TRUE(std::regex_match(std::string(strategy.name), std::regex("[a-z][a-z0-9_]*")));
      EXPECT_FALSE(strategy.source.document.empty()) << strategy.name << " has no source";
    }
  }
}

TEST(Tables, TimeShapesByAscendingWorkAndTheHeadlineAmongThem) {
  for (const auto& experiment : experiments()) {
    double last = 0;
    for (const auto& shape : experiment.timed) {
      EXPECT_GE(experiment.work(shape).flops, last) << to_string(shape);
      last = experiment.work(shape).flops;
    }
    EXPECT_NE(std::ranges::find(experiment.timed, experiment.headline), experiment.timed.end());
  }
}

TEST(Tables, CountCompulsoryWork) {
  const auto& matmul = experiments()[0];
  const Work work = matmul.work({3, 5, 7});
  EXPECT_EQ(work.flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(work.bytes, 4 * (3 * 7 + 7 * 5 + 3 * 5));
}

TEST(CaseId, IsExperimentStrategyShapeRegime) {
  const auto& matmul = experiments()[0];
  const Case c{&matmul, &matmul.ladder[0], {80, 48, 64}, Regime::hot};
  EXPECT_EQ(c.id(), "matmul/cpu_serial/80x48x64/hot");
}

}  // namespace
}  // namespace recheck
