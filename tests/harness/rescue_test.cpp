// SPDX-License-Identifier: Apache-2.0
//
// Rows that end the process, and GPUs that are disturbed or small; all GPUs are simulated.

#include <gtest/gtest.h>

#include "../expect.hpp"
#include "program.hpp"

namespace recheck {
namespace {

namespace fs = std::filesystem;

/// A recheck on a simulated GPU, an H200 by default.
class SimulatedGpu : public Run {
 protected:
  [[nodiscard]] static std::string program(const std::string& gpus,
                                           const std::string& environment = "") {
    return "env -u CUDA_VISIBLE_DEVICES SIMULATED_GPU='" + gpus + "' " + environment + " " +
           quoted(SIMULATED_GPUS);
  }
  [[nodiscard]] Outcome outcome(const std::string& flags,
                                const std::string& environment = "") const {
    return run(output() + " --experiment=doubling --strategy=cpu,gpu --per-case=0.05 " + flags,
               program("NVIDIA H200", environment));
  }
  /// A run that has to succeed.
  Outcome timed(const std::string& flags, const std::string& environment = "") const {
    Outcome found = outcome(flags, environment);
    EXPECT_EQ(found.code, 0) << found.output;
    return found;
  }
};

/// The result of a GPU case if a range of its blocks of samples finds the GPU busy.
class Disturbed : public SimulatedGpu {
 protected:
  nlohmann::json measured(const std::string& busy) {
    timed("--strategy=gpu --shape=256x256 --regime=cold --per-case=1", "SIMULATED_LOAD=" + busy);
    auto found = record()["cases"][0];
    EXPECT_EQ(found["status"], "passed") << found;
    found.update(samples().at(0));
    return found;
  }
};

TEST_F(Disturbed, IsMeasuredAgainAndKept) {
  const auto quiet = measured("1000-1000");
  EXPECT_EQ(quiet["blocks"].size(), 12u);
  EXPECT_TRUE(quiet["set_aside"].empty());
  EXPECT_TRUE(quiet["disturbed"].is_null());
  const auto burst = measured("5-7");
  EXPECT_EQ(burst["blocks"].size(), 12u);
  EXPECT_EQ(burst["set_aside"].size(), 3u);
  EXPECT_EQ(burst["seconds"]["median"], 1e-3);
  EXPECT_TRUE(burst["disturbed"].is_null()) << burst["disturbed"];
  std::size_t aside = 0;
  for (const auto& block : burst["set_aside"]) aside += block[1].size();
  EXPECT_EQ(burst["seconds"]["discarded"], aside);
}

TEST_F(Disturbed, IsMarkedIfItPersists) {
  const auto busy = measured("6-1000");
  EXPECT_EQ(busy["disturbed"], "the times jumped, and the harness does not see why");
  EXPECT_EQ(busy["seconds"]["median"], 1e-3);  // of the blocks before
  // if all blocks are slow, times alone reveal nothing
  EXPECT_TRUE(measured("1-1000")["disturbed"].is_null());
  // a row keeps all samples if most are disturbed
  EXPECT_EQ(measured("3-1000")["status"], "passed");
}

// the simulated context takes 0.1 s, and each process gives a sample of both regimes
TEST_F(SimulatedGpu, TimesTheFirstCallOfProcesses) {
  timed("--shape=256x256 --regime=first,first_context");
  const auto cases = record()["cases"];
  ASSERT_EQ(cases.size(), 2u) << cases;
  std::vector<std::vector<double>> seconds;
  for (const auto& line : samples()) {
    EXPECT_EQ(line["blocks"].size(), line["samples"].size());
    seconds.push_back(line["samples"]);
  }
  ASSERT_EQ(seconds[0].size(), seconds[1].size());
  for (std::size_t i = 0; i < seconds[0].size(); ++i)
    EXPECT_NEAR(seconds[1][i] - seconds[0][i], 0.1, 1e-4);
}

// a full run has none of them, but may resume a run that has: that of the claims' cases
TEST_F(SimulatedGpu, KeepsTheFirstCallsOfTheRunThatItResumes) {
  timed("--shape=256x256 --regime=first,first_context");
  const auto first = record()["cases"];
  timed("--shape=256x256 --resume");
  const auto cases = record()["cases"];
  EXPECT_GT(cases.size(), first.size());
  for (const auto& c : first) EXPECT_EQ(std::ranges::count(cases, c), 1) << c;
}

TEST_F(SimulatedGpu, BlamesTheRowThatEndsItsFirstProcess) {
  timed("--strategy=gpu,crash --shape=256x256 --regime=first", "SIMULATED_END_FIRST=segfault");
  const auto cases = record()["cases"];
  for (const auto& c : cases) {
    const bool crashes = c["id"] == "doubling/crash/256x256/first";
    EXPECT_EQ(c["status"], crashes ? "failed" : "passed") << c;
    if (crashes) {
      EXPECT_TRUE(has(c["reason"].get<std::string>(), "process"));
    }
  }
}

constexpr const char* one_shape = "--shape=256x256 --regime=hot ";

/// How a row ends instead of returning, and the reason that its cases then have.
using End = std::pair<const char*, const char*>;
// NOLINTNEXTLINE(misc-multiple-inheritance): required by GoogleTest
class SimulatedGpuWithARowThatEnds : public SimulatedGpu,
                                     public testing::WithParamInterface<End> {};

// the row fails at each shape, and the others are measured as usual
TEST_P(SimulatedGpuWithARowThatEnds, LosesOnlyThatRow) {
  const auto [end, why] = GetParam();
  const auto outcome =
      timed("--shape=256x256,300x200 --strategy=gpu,cpu,crash --regime=hot,cold --per-case=0.02",
            "SIMULATED_PATIENCE=2 SIMULATED_END=" + std::string(end));
  const auto record = this->record();
  ASSERT_EQ(record["cases"].size(), 10u);
  for (const auto& one : record["cases"]) {
    const bool ends = std::string(one["id"]).starts_with("doubling/crash/");
    EXPECT_EQ(one["status"], ends ? "failed" : "passed") << one;
    if (ends) {
      EXPECT_TRUE(has(one["reason"].dump(), why));
    }
  }
  EXPECT_TRUE(record["finished"].is_string());
  EXPECT_FALSE(fs::exists(folder_ / "record.journal.jsonl"));
  for (const char* shape : {"256x256", "300x200"}) {
    const std::string said = "doubling/crash/" + std::string(shape) + ": " + why;
    EXPECT_TRUE(has(outcome.output, said));
  }
}
// proofs at edges and proofs of cases
TEST_P(SimulatedGpuWithARowThatEnds, CostsTheGateOnlyThatRow) {
  const auto [end, why] = GetParam();
  const auto gate = [&, end = std::string(end)](const std::string& flags) {
    const auto outcome =
        run("--gate " + flags, program("NVIDIA H200", "SIMULATED_PATIENCE=2 SIMULATED_END=" + end));
    EXPECT_EQ(outcome.code, 1);
    return outcome.output;
  };
  const std::string edges = gate("--experiment=doubling");
  EXPECT_TRUE(has(edges,
                  "doubling/cpu: passed 2 times, 0 shapes unsupported\n"
                  "doubling/gpu: passed 2 times, 0 shapes unsupported\n"));
  EXPECT_TRUE(has(edges, "\ndoubling/crash: WRONG at 3x5: " + std::string(why)));
  EXPECT_TRUE(edges.ends_with("\ndoubling/last: passed 2 times, 0 shapes unsupported\n")) << edges;
  if (end == std::string("hang")) return;  // a launch at a timed shape may take longer
  const auto file = folder_ / "cases.txt";
  std::ofstream(file) << "doubling/crash/256x256/cold\ndoubling/gpu/256x256/cold\n"
                         "doubling/crash/256x256/hot\n";
  const std::string cases = gate("--cases=" + quoted(file.string()));
  for (const char* regime : {"cold", "hot"})
    EXPECT_TRUE(has(cases, "\ndoubling/crash/256x256/" + std::string(regime) + ": failed: " + why));
  EXPECT_TRUE(has(cases, "\ndoubling/gpu/256x256/cold: passed\n"));
}
constexpr End ends[] = {
    {"exit", "has ended the process with exit code 0"},
    {"_exit77", "has ended the process with exit code 77"},  // a skipped test
    {"abort", "has ended the process by SIGABRT"},
    {"thread", "has ended the process by SIGABRT"},
    {"kill", "has ended the process by SIGKILL"},  // as for lack of memory
    {"hang", "hangs: its launches had not ended after"},
#ifndef __SANITIZE_ADDRESS__  // which has these end the process with what it has to say
    {"segfault", "has ended the process by SIGSEGV"},
    {"overflow", "has ended the process by SIGSEGV"},
#endif
};
INSTANTIATE_TEST_SUITE_P(Simulated, SimulatedGpuWithARowThatEnds, testing::ValuesIn(ends),
                         [](const auto& info) { return std::string(info.param.first); });

// they serve all rows, so none of these is to blame
TEST_F(SimulatedGpu, BlamesTheExperimentsFunctions) {
  for (const char* in : {"fill", "oracle", "judge"}) {
    for (const auto& [end, why] :
         {End{"abort", "has ended the process by SIGABRT"},
          End{"exit", "has ended the process with exit code 0"}, End{"throw", "failed: no file"}}) {
      const std::string name = in == std::string("judge") ? "oracle" : in;
      const std::string said = "the experiment's `" + name + "` " + why;
      const std::string set = std::string("SIMULATED_IN=") + in + " SIMULATED_END=" + end;
      timed(one_shape, set);
      const auto now = record();
      for (const auto& one : now["cases"]) EXPECT_EQ(one["reason"], said) << set;
      const auto gate = run("--gate --experiment=doubling", program("NVIDIA H200", set));
      EXPECT_EQ(gate.code, 1) << gate.output;
      EXPECT_EQ(gate.output.find(": passed"), std::string::npos) << gate.output;
      EXPECT_TRUE(has(gate.output, ": " + said));
    }
  }
}

// for a debugger or profiler, which handles the end of the process itself
TEST_F(SimulatedGpu, EndsWithTheRowWithoutRescue) {
  const auto ended = outcome("--shape=256x256 --strategy=crash --regime=hot",
                             "RECHECK_NO_RESCUE=1 SIMULATED_END=abort");
  EXPECT_NE(ended.code, 0) << ended.output;
  EXPECT_FALSE(has(ended.output, "continuing")) << ended.output;
  EXPECT_TRUE(fs::exists(folder_ / "record.journal.jsonl"));
}

// a profiler passes every program one case about the machine, in addition to its own
TEST_F(SimulatedGpu, ProvesNoCaseOfTheMachineWithoutAGpu) {
  const auto file = folder_ / "cases.txt";
  std::ofstream(file) << "machine/launch/1/hot\n";
  const auto outcome = run("--gate --cases=" + quoted(file.string()), program(""));
  EXPECT_EQ(outcome.code, 77);
  EXPECT_EQ(outcome.output.find("machine/launch/1/hot: not_run: "), 0U) << outcome.output;
}

// one slow row shape must not exclude a square
TEST_F(SimulatedGpu, TriesARowThatWasSlowAtAnotherShape) {
  // the host computes, so --per-case allows for a busy one
  timed("--shape=1x1024,512x512 --regime=hot --per-case=0.5", "SIMULATED_SLOW_ROWS=1");
  const auto record = this->record();
  for (const auto& one : record["cases"]) EXPECT_EQ(one["status"], "passed") << one;
  // but it is excluded if it really is as slow
  const auto slow = timed("--shape=1x1024,1x262144 --regime=hot", "SIMULATED_SLOWER=2000000");
  EXPECT_TRUE(has(slow.output, "1 not_run"));
}

TEST_F(SimulatedGpu, RefusesBlockingLaunchesWithoutForce) {
  const auto blocking = [&](const std::string& flags, const char* value = "1") {
    return outcome(one_shape + flags, std::string("CUDA_LAUNCH_BLOCKING=") + value);
  };
  expect_one_line(blocking(""), 2, "CUDA_LAUNCH_BLOCKING=1 makes every launch wait");
  EXPECT_TRUE(fs::is_empty(folder_));
  for (const char* none : {"0", "''"}) EXPECT_EQ(blocking("", none).code, 0);
  EXPECT_EQ(blocking("--strategy=cpu").code, 0);
  EXPECT_EQ(blocking("--force").code, 0);
  EXPECT_TRUE(has(record()["environment"]["conditions"].dump(), "\"launch_blocking\""));
}

// each launch takes 20 ms, though a microsecond was predicted
TEST_F(SimulatedGpu, StopsAtItsBudgetIfSlowerThanPredicted) {
  timed("--strategy=gpu --regime=hot --shape=256x256,257x256,258x256,259x256,260x256 --budget=0.8",
        "SIMULATED_SLOWER=60000");
  const auto record = this->record();
  EXPECT_FALSE(record["finished"].is_null());
  EXPECT_TRUE(record["plan"]["dropped"].empty()) << record["plan"];
  ASSERT_EQ(record["cases"].size(), 5u);
  const auto& last = record["cases"][4];
  EXPECT_EQ(record["cases"][0]["status"], "passed") << record["cases"][0];
  EXPECT_EQ(last["status"], "not_run");
  EXPECT_EQ(last["reason_code"], "budget");
  EXPECT_EQ(last["reason"], "--budget of 0.8 s used up");
}

// other processes use the memory
TEST_F(SimulatedGpu, MeasuresWhatFitsIntoTheFreeMemory) {
  timed("--strategy=gpu --regime=hot --shape=64x64,2048x2048", "SIMULATED_FREE=20000000");
  const auto some = record();
  EXPECT_EQ(some["environment"]["state"]["free_memory_bytes"], 20000000);
  EXPECT_EQ(some["cases"][0]["status"], "passed") << some["cases"][0];
  EXPECT_EQ(some["cases"][1]["reason_code"], "no_memory");
  EXPECT_EQ(some["cases"][1]["reason"], "not enough GPU memory: needs 0.117 GB, 0.02 GB free");
  timed("--regime=hot --shape=64x64", "SIMULATED_FREE=0");
  const auto none = record();
  EXPECT_EQ(none["environment"]["gpu_reason"], "not enough GPU memory: needs 0.5 GB, 0 GB free");
  EXPECT_EQ(none["cases"][1]["reason"], none["environment"]["gpu_reason"]);
}

}  // namespace
}  // namespace recheck
