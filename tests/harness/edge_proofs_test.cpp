// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/prove/edge_proofs.hpp"

#include <gtest/gtest.h>

#include "../../experiments/transpose/transpose.hpp"

namespace recheck {
namespace {

/// The output of `--gate` for a table of transpositions on the CPU, and its exit code.
std::pair<std::string, int> gate_of(std::span<const Strategy> rows) {
  const Experiment experiments[] = {transpose::experiment(rows)};
  testing::internal::CaptureStdout();
  const int code = run_gate(experiments, {});
  return {testing::internal::GetCapturedStdout(), code};
}

Strategy cpu_serial() {
  return *std::ranges::find(transpose::ladder(), "cpu_serial", &Strategy::name);
}

TEST(GateFlag, FailsARowThatFitsNoShapeOrThrows) {
  Strategy row = cpu_serial();
  EXPECT_EQ(gate_of({&row, 1}).second, 0);
  row.fits = [](const Shape&, const Device&) { return Reason("never"); };
  EXPECT_EQ(gate_of({&row, 1}).second, 1);
  row = cpu_serial();
  row.launch.run = [](const Call&) { throw std::runtime_error("broken"); };
  const auto [said, code] = gate_of({&row, 1});
  EXPECT_EQ(code, 1);
  EXPECT_NE(said.find("broken"), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 4) << said;
  EXPECT_NE(said.find("WRONG in "), std::string::npos) << said;
}

TEST(GateFlag, ReportsRowsThatCannotBeTried) {
  Strategy absent = cpu_serial(), elsewhere = cpu_serial();
  absent.launch = {Backend::cpu, nullptr, "built without it"};
  elsewhere.needs = [](const Device&) { return Reason("built without it"); };
  for (Strategy row : {absent, elsewhere}) {
    const auto [said, code] = gate_of({&row, 1});
    EXPECT_EQ(code, 77);
    EXPECT_NE(said.find("not run: built without it"), std::string::npos) << said;
    // the same if every row that can run is right
    Strategy rows[] = {row, cpu_serial()};
    rows[0].name = "absent";
    EXPECT_EQ(gate_of(rows).second, 77);
  }
}

}  // namespace
}  // namespace recheck
