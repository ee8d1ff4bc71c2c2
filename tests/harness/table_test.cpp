// SPDX-License-Identifier: Apache-2.0
//
// Properties of every table: one name everywhere, a file for each GPU row and a row for each file.
#include <gtest/gtest.h>

#include <bit>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "../../experiments/experiments.hpp"
#include "../../experiments/harness/keep/record.hpp"
#include "../../experiments/harness/table/check.hpp"

namespace recheck {
namespace {

/// Whether a row belongs to a file: tile16_depth4 belongs to tile, its name without the numbers.
bool belongs(std::string_view strategy, const std::string& stem) {
  if (!strategy.starts_with(stem)) return false;
  const auto rest = strategy.substr(stem.size());
  return rest.empty() || rest[0] == '_' || std::isdigit(static_cast<unsigned char>(rest[0])) != 0;
}

/// The files of rows, without those with their own header, which rows share.
std::set<std::string> kernel_files(const Experiment& experiment) {
  std::set<std::string> stems;
  const auto folder = std::filesystem::path(RECHECK_SOURCE) / "kernels" / experiment.name;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    auto header = entry.path();
    if (exists(header.replace_extension(".hpp"))) continue;
    if (entry.path().extension() == ".cu" || entry.path().extension() == ".cpp")
      stems.insert(entry.path().stem().string());
  }
  return stems;
}

TEST(Tables, HaveARowForEveryKernelFileAndAFileForEveryGpuRow) {
  for (const auto& experiment : experiments()) {
    const auto stems = kernel_files(experiment);
    const auto& rows = experiment.ladder;
    for (const auto& stem : stems)
      EXPECT_TRUE(std::ranges::any_of(rows, [&](auto& s) { return belongs(s.name, stem); }))
          << "kernels/" << experiment.name << "/" << stem << " has no row in its ladder";
    for (const auto& row : rows)
      EXPECT_TRUE(row.launch.backend == Backend::cpu ||
                  std::ranges::any_of(stems, [&](auto& stem) { return belongs(row.name, stem); }))
          << row.name;
  }
}

TEST(Tables, TimeShapesByAscendingWorkAndTheHeadlineAmongThem) {
  for (const auto& experiment : experiments()) {
    double last = 0;
    for (const auto& shape : experiment.timed) {
      const double size = experiment.problem.work(shape).size();
      EXPECT_GE(size, 0.95 * last) << to_string(shape);
      last = size;
    }
  }
}

const Experiment& experiment_named(std::string_view name) {
  return *std::ranges::find(experiments(), name, &Experiment::name);
}

const Strategy& row(const Experiment& experiment, std::string_view name) {
  return *std::ranges::find(experiment.ladder, name, &Strategy::name);
}

TEST(Tables, CountCompulsoryWork) {
  const auto& matmul = experiment_named("matmul");
  const Work product = matmul.problem.work({3, 5, 7});
  EXPECT_EQ(product.flops, 2 * 3 * 5 * 7);
  EXPECT_EQ(product.bytes, 4 * (3 * 7 + 7 * 5 + 3 * 5));
  const auto& matvec = experiment_named("matvec");
  const Work vector = matvec.work(row(matvec, "naive"), {3, 5});
  EXPECT_EQ(vector.flops, 2 * 3 * 5);
  EXPECT_EQ(vector.bytes, 4 * (3 * 5 + 5 + 3));
  EXPECT_EQ(matvec.work(row(matvec, "read"), {3, 5}).bytes, 4 * (3 * 5 + 5));
  const auto& transpose = experiment_named("transpose");
  EXPECT_EQ(transpose.work(row(transpose, "copy"), {3, 5}).bytes, 4 * 2 * 3 * 5);
  EXPECT_EQ(transpose.problem.work({3, 5}).flops, 0);
}

// a component relies on the proof of its whole row, which must have the same operands
TEST(Tables, HaveAWholeRowForEveryComponent) {
  for (const auto& experiment : experiments()) {
    for (const auto& strategy : experiment.ladder) {
      EXPECT_FALSE(strategy.source.document.empty()) << strategy.name << " has no source";
      if (strategy.part_of.empty()) continue;
      const Strategy& whole = row(experiment, strategy.part_of);
      EXPECT_TRUE(whole.part_of.empty());
      EXPECT_EQ(whole.layout, strategy.layout);
      EXPECT_EQ(whole.workspace, strategy.workspace);
    }
  }
}

/// Whether the name is another row's and one more word.
bool is_worded(const Experiment& experiment, std::string_view name) {
  return std::ranges::any_of(experiment.ladder, [=](const Strategy& row) {
    return row.listing && !row.sweep && name.starts_with(std::string(row.name) + '_');
  });
}

// a name ends in its swept parameter, with the row's value
TEST(Tables, NameSweptParametersByTheirValues) {
  for (const auto& experiment : experiments()) {
    for (const auto& strategy : experiment.ladder) {
      std::smatch found;
      const std::string name(strategy.name);
      const std::regex pattern(
          "_(block|unroll|chunk|depth|promotion|tile|tile_m|tile_n|side|column|"
          "warps|stages|split|rows|piece|cluster|index)([0-9]+)$");
      if (!std::regex_search(name, found, pattern)) {
        // else it ends in the word that a listing has otherwise, which the note has in full
        EXPECT_TRUE(!strategy.sweep || (is_worded(experiment, name) && !strategy.note.empty()))
            << name;
        continue;
      }
      const auto parameter =
          std::ranges::find(strategy.parameters, found[1].str(), &Parameter::name);
      ASSERT_NE(parameter, strategy.parameters.end()) << name;
      EXPECT_EQ(std::to_string(parameter->value), found[2]) << name;
    }
  }
}

TEST(Tables, TimeEveryRowSomewhere) {
  for (const auto& experiment : experiments()) {
    for (const auto& strategy : experiment.ladder) {
      int timed = 0;
      for (const auto& shape : experiment.timed)
        for (const auto regime : {Regime::cold, Regime::hot})
          timed +=
              experiment.leaves_out == nullptr || !experiment.leaves_out(strategy, shape, regime);
      EXPECT_GT(timed, 0) << experiment.name << "/" << strategy.name;
    }
  }
}

TEST(FoldWords, TakesEachWordOfTheMatrixOnce) {
  const auto word = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  float words[] = {word(0x1u),   word(0x20u),       word(0xffffffffu),
                   word(0x300u), word(0x80000000u), word(0xffffffffu)};
  EXPECT_EQ(fold_words({2, 2, words, 3}), 0x80000321u);
  EXPECT_EQ(fold_words({1, 2, words, 3}), 0x21u);
  EXPECT_EQ(fold_words({2, 0, words, 3}), 0u);
  EXPECT_EQ(fold_words({0, 2, words, 3}), 0u);
  words[3] = word(0x301u);
  EXPECT_EQ(fold_words({2, 2, words, 3}), 0x80000320u);
}

}  // namespace
}  // namespace recheck
