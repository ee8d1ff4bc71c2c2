// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/plan/plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "../../experiments/experiments.hpp"
#include "../../experiments/harness/self/self.hpp"
#include "../../experiments/transpose/transpose.hpp"
#include "../expect.hpp"

namespace recheck {
namespace {

/// Part of the full matrix, with one second per case.
std::vector<Case> a_second_each() {
  auto cases = plan(experiments(), {.experiments = {"matmul", "matvec"}}).cases;
  for (Case& c : cases) c.predicted = 1;
  return cases;
}

double seconds_of(const std::vector<Case>& cases) {
  return predicted(cases, [](const Case&) { return true; });
}

TEST(Fit, DropsSweepsFirstAndTheLargestFirst) {
  auto cases = a_second_each();
  const double all = seconds_of(cases);
  const auto dropped = fit(cases, all - 1, "x");
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped[0].experiment, "matvec");
  EXPECT_EQ(dropped[0].reason.find("its sweeps, predicted to take "), 0u) << dropped[0].reason;
  EXPECT_LE(seconds_of(cases), all - 1);
}

TEST(Fit, DropsTheLargestShapesAfterSweeps) {
  const auto all = a_second_each();
  auto cases = all;
  const auto rest = [](const Case& c) { return !c.strategy->sweep || c.is_headline(); };
  const auto dropped = fit(cases, predicted(all, rest) - 1, "x");
  EXPECT_EQ(dropped.back().experiment + " " + dropped.back().shape, "matmul 8192x8192x8192");
  for (std::size_t i = 0; i + 1 < dropped.size(); ++i)
    EXPECT_EQ(dropped[i].reason.find("its sweeps"), 0u) << dropped[i].shape;
  for (const Case& c : cases) EXPECT_TRUE(rest(c)) << c.id();
}

TEST(Fit, DropsHeadlinesLast) {
  const auto all = a_second_each();
  const auto headlines = [](const Case& c) { return c.is_headline() && !c.strategy->sweep; };
  auto cases = all;
  fit(cases, predicted(all, headlines), "x");
  EXPECT_TRUE(std::ranges::all_of(cases, headlines));
  EXPECT_EQ(seconds_of(cases), predicted(all, headlines));
  // if not even one of them fits, the remaining time goes to smaller shapes
  cases = all;
  for (Case& c : cases) c.predicted = c.is_headline() ? 100 : 1;
  fit(cases, 99, "x");
  EXPECT_FALSE(cases.empty());
  EXPECT_TRUE(std::ranges::none_of(cases, &Case::is_headline));
  EXPECT_LE(seconds_of(cases), 99);
}

// a requested shape gets every row in each of its regimes; a full run skips some
TEST(Plan, HasEverythingExceptWhatAFullRunSkips) {
  std::set<std::string> full;
  for (const Case& c : plan(experiments(), {}).cases) full.insert(c.id());
  for (const auto& experiment : experiments()) {
    for (const auto& shape : experiment.timed) {
      const std::string name(experiment.name);
      const auto asked = plan(experiments(), {.experiments = {name}, .shapes = {to_string(shape)}});
      std::map<const Strategy*, int> regimes_of;
      for (const Case& c : asked.cases) {
        ++regimes_of[c.strategy];
        const bool lasts = c.kind().timing == Timing::seconds;
        const bool skipped = lasts ? !c.is_headline()
                                   : experiment.leaves_out != nullptr &&
                                         experiment.leaves_out(*c.strategy, shape, c.regime);
        const bool rarely = c.kind().drains && !writes_much(experiment, *c.strategy, shape);
        EXPECT_TRUE(full.contains(c.id()) == !skipped || (rarely && !skipped)) << c.id();
        full.erase(c.id());
      }
      for (const auto& row : experiment.ladder)
        EXPECT_GE(regimes_of[&row], row.launch.backend == Backend::cpu ? 1
                                    : row.role == Role::part           ? 2
                                                                       : 4)
            << row.name;
    }
  }
  EXPECT_TRUE(full.empty()) << *full.begin() << " is in no requested shape";
  EXPECT_THROW(plan(experiments(), {.experiments = {"matmul"}, .shapes = {"0x3x4"}}),
               std::invalid_argument);
}

TEST(Plan, StartsProcessesOnlyForRegimesOrCasesThatAreNamed) {
  const auto count = [](const Choice& choice) {
    return std::ranges::count_if(plan(experiments(), choice).cases,
                                 [](const Case& c) { return c.kind().only_if_named; });
  };
  EXPECT_EQ(count({}), 0);
  EXPECT_EQ(count({.shapes = {"80x48x64"}}), 0);
  EXPECT_GT(count({.shapes = {"80x48x64"}, .regimes = {"first"}}), 0);
  EXPECT_EQ(count({.cases = {"matmul/global16/80x48x64/first"}}), 1);
}

TEST(Plan, RefusesAShapeThatOnlyTheMachineHas) {
  const Experiment both[] = {transpose::experiment(transpose::ladder()), machine::experiment()};
  EXPECT_THROW(plan(both, {.shapes = {"1024"}}), std::invalid_argument);
  EXPECT_FALSE(plan(both, {.experiments = {"machine"}, .shapes = {"1024"}}).cases.empty());
  EXPECT_FALSE(plan(both, {.shapes = {"1024", "64x64"}}).cases.empty());
}

TEST(Plan, RefusesInvalidTables) {
  const auto refused = [](auto spoil) -> std::string {
    static std::vector<Strategy> rows;
    rows.assign(transpose::ladder().begin(), transpose::ladder().begin() + 3);
    Experiment experiment = transpose::experiment(rows);
    spoil(experiment, rows);
    return thrown([&] { plan({&experiment, 1}, {}); });
  };
  EXPECT_EQ(refused([](Experiment&, auto&) {}), "");
  // on an axis of kinds, extent 0 is a kind
  constexpr auto square = [](const Shape&) { return Extent{4, 4}; };
  EXPECT_EQ(refused([=](Experiment& e, auto&) {
              e.timed.push_back({0, 4});
              e.inputs = [](const Shape&) { return std::vector<Extent>{{4, 4}}; };
              e.problem.output = square;
            }),
            "");
  const std::pair<void (*)(Experiment&, std::vector<Strategy>&), const char*> others[] = {
      {[](auto&, auto& rows) { rows[1].name = rows[0].name; }, "two rows are named cpu_serial"},
      {[](auto&, auto& rows) { rows[1].source = {}; }, "has no source: name a document"},
      {[](auto&, auto& rows) { rows[1].name = "a row"; }, "only a-z"},
      {[](auto& e, auto&) { e.name = "a/b"; }, "only a-z"},
      {[](auto& e, auto&) { e.headline = {3, 5}; }, "not among the shapes"},
      {[](auto& e, auto&) { e.edges.push_back({3}); }, "2 extents"},
      {[](auto&, auto& rows) { rows[1].part_of = "nothing"; }, "which is not one of its rows"},
      {[](auto& e, auto&) { e.inputs = [](const Shape&) { return std::vector<Extent>{}; }; },
       "it has no input at"},
      {[](auto& e, auto&) { e.problem.work = [](const Shape&) { return Work{NAN, 1}; }; },
       "is not a finite number of operations"},
      {[](auto& e, auto&) {
         e.problem.work = [](const Shape& s) { return Work{0, 2.0 * s[0] * s[1]}; };
       },
       "as many bytes as there are elements: count bytes"},
      {[](auto& e, auto&) { e.terms = [](const Shape&) { return std::int64_t{0}; }; },
       "be 1 or mo"},
      {[](auto& e, auto&) { e.terms = nullptr; }, "it needs inputs, terms"},
      {[](auto& e, auto&) { e.edges.push_back({-5, 4}); }, "-5x4 have to be from 0 to 1073741824"},
      {[](auto& e, auto&) { e.timed.push_back({1LL << 31, 1}); }, "2147483648x1 have to be"},
      {[](auto& e, auto&) { e.timed.push_back({0, 4}); }, "at 0x4 there is nothing to time"},
      {[](auto& e, auto&) { e.timed.push_back(e.timed[0]); }, "is timed twice"},
      {[](auto& e, auto&) {
         e.inputs = [](const Shape& s) { return std::vector<Extent>{{s[0] - 5, s[1]}}; };
       },
       "an input or an output is -"},
      {[](auto& e, auto&) {
         e.problem.output = [](const Shape&) { return Extent{1LL << 40, 1LL << 40}; };
       },
       "an input or an output is 1099511627776x"},
      {[](auto& e, auto&) {
         e.problem.output = [](const Shape& s) {
           return Extent{.rows = s[0], .columns = s[1], .length_in = 0};
         };
       },
       "the output 0 has its length_in 0, which has to be another output"},
      {[](auto& e, auto&) {
         e.problem.output = [](const Shape& s) {
           return Extent{.rows = s[1], .columns = s[0] + 1, .starts_as = 0};
         };
       },
       "starts_as 0, which has to be an input of the same extent"},
      {[](auto& e, auto&) { e.axes = {"rows", "rows"}; }, "two of its axes are named rows"},
      {[](auto&, auto& rows) { rows[1].role = Role::part; }, "name its row"},
      {[](auto&, auto& rows) { rows[1].launch = {}; }, "has no launch"},
      {[](auto&, auto& rows) { rows[1].name = "a_name_that_is_longer_than_forty_characters"; },
       "40 characters at most"},
  };
  for (const auto& [spoil, says] : others) EXPECT_TRUE(has(refused(spoil), says));
  const Experiment twice[] = {transpose::experiment(transpose::ladder()),
                              transpose::experiment(transpose::ladder())};
  EXPECT_THROW(plan(twice, {}), std::invalid_argument);
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
