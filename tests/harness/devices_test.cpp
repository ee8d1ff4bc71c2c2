// SPDX-License-Identifier: Apache-2.0
//
// One GPU of several, all of them, and a small one, on GPUs that are made up.
#include "../../experiments/harness/devices.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "program.hpp"

namespace recheck {
namespace {

namespace fs = std::filesystem;

TEST(VisibleAlone, IsTheEntryOfAnIndex) {
  EXPECT_EQ(visible_alone("1", nullptr), "1");
  EXPECT_EQ(visible_alone("1", "3,2"), "2");
  EXPECT_EQ(visible_alone("0", "GPU-1234, GPU-5678"), "GPU-1234");
  EXPECT_EQ(visible_alone("1", "MIG-1234,MIG-5678"), "MIG-5678");
}

TEST(VisibleAlone, IsTheUuidItselfWhereThatIsNotHidden) {
  EXPECT_EQ(visible_alone("GPU-1234", nullptr), "GPU-1234");
  EXPECT_EQ(visible_alone("MIG-1234", nullptr), "MIG-1234");
  EXPECT_EQ(visible_alone("GPU-1234", "GPU-56,GPU-12"), "GPU-1234");  // CUDA takes a UUID's start
  EXPECT_EQ(visible_alone("GPU-12", "GPU-5678,GPU-1234"), "GPU-12");
}

TEST(VisibleAlone, RefusesWhatIsHiddenOrNone) {
  const auto refusal = [](const std::string& device, const char* visible) -> std::string {
    try {
      visible_alone(device, visible);
      return "";
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal("2", "0,1"),
            "--device=2: CUDA_VISIBLE_DEVICES=0,1 leaves 2 GPUs, counted from 0");
  EXPECT_EQ(refusal("0", ""), "--device=0: CUDA_VISIBLE_DEVICES= leaves 0 GPUs, counted from 0");
  EXPECT_NE(refusal("GPU-1234", "0,1").find("does not name it"), std::string::npos);
  EXPECT_NE(refusal("GPU-1234", "GPU-5678").find("does not name it"), std::string::npos);
  for (const char* none : {"-1", "1.0", "first", "99999", "gpu0", "GPU1"})
    EXPECT_NE(refusal(none, nullptr).find("is no index, no UUID"), std::string::npos) << none;
}

/// A recheck on made-up GPUs, an H200 and an L4 unless a test says otherwise.
class Devices : public Run {
 protected:
  [[nodiscard]] static std::string program(const std::string& gpus,
                                           const std::string& environment = "") {
    return "env -u CUDA_VISIBLE_DEVICES MADE_UP_GPUS='" + gpus + "' " + environment + " " +
           quoted(MADE_UP_GPUS);
  }
  [[nodiscard]] Outcome measure(const std::string& flags, const std::string& environment = "",
                                const std::string& gpus = "NVIDIA H200,NVIDIA L4") const {
    return run(output() + " --experiment=doubling --strategy=cpu,gpu --per-case=0.05 " + flags,
               program(gpus, environment));
  }
  [[nodiscard]] nlohmann::json record_in(const std::string& folder) const {
    return nlohmann::json::parse(std::ifstream(folder_ / folder / "record.json"));
  }
  [[nodiscard]] std::string model_in(const std::string& folder) const {
    return record_in(folder)["environment"]["gpu"]["name"];
  }
  void expect_one_line(const Outcome& outcome, int code, const std::string& words) const {
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 1) << outcome.output;
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
  }
};

/// What is left of a GPU case whose blocks of samples in a range find the GPU busy.
class Disturbed : public Devices {
 protected:
  nlohmann::json measured(const std::string& busy) {
    const auto outcome = run(output() +
                                 " --experiment=doubling --strategy=gpu --shape=256x256 "
                                 "--regime=cold --per-case=1",
                             program("NVIDIA H200", "MADE_UP_LOAD=" + busy));
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    auto found = record()["cases"][0];
    EXPECT_EQ(found["status"], "passed") << found;
    found.update(samples().at(0));
    return found;
  }
};

TEST_F(Disturbed, IsMeasuredAgainAndNothingIsThrownAway) {
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

TEST_F(Disturbed, IsMarkedWhereItStaysSo) {
  const auto busy = measured("6-1000");
  EXPECT_EQ(busy["disturbed"], "the times jumped, and the harness does not see why");
  EXPECT_EQ(busy["seconds"]["median"], 1e-3);  // of the blocks before
  // where all are alike, nothing shows by times alone
  EXPECT_TRUE(measured("1-1000")["disturbed"].is_null());
  // a row whose every sample but a few is disturbed keeps them all
  EXPECT_EQ(measured("3-1000")["status"], "passed");
}

constexpr const char* one_shape = "--shape=256x256 --regime=hot ";

TEST_F(Devices, AreMeasuredAsTheyAreChosen) {
  const auto measured = [&](const std::string& flags, const std::string& environment = "") {
    const auto outcome = measure(one_shape + flags, environment);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return model_in("");
  };
  EXPECT_EQ(measured(""), "NVIDIA H200");
  EXPECT_EQ(measured("--device=1"), "NVIDIA L4");
  EXPECT_EQ(measured("--device=GPU-made-up-1"), "NVIDIA L4");
  EXPECT_EQ(measured("", "CUDA_VISIBLE_DEVICES=1"), "NVIDIA L4");
  EXPECT_EQ(measured("--device=1", "CUDA_VISIBLE_DEVICES=1,0"), "NVIDIA H200");
}

/// What a row does in place of coming back, and what its cases say of it then.
using End = std::pair<const char*, const char*>;
// NOLINTNEXTLINE(misc-multiple-inheritance): GoogleTest's own way
class DevicesWithARowThatEnds : public Devices, public testing::WithParamInterface<End> {};

// the row has failed at each shape, and the others are measured as if it was not there
TEST_P(DevicesWithARowThatEnds, LoseNothingButThatRow) {
  const auto [end, why] = GetParam();
  const auto outcome =
      measure("--shape=256x256,300x200 --strategy=gpu,cpu,crash --regime=hot,cold --per-case=0.005",
              "MADE_UP_PATIENCE=2 MADE_UP_END=" + std::string(end));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const auto record = record_in("");
  ASSERT_EQ(record["cases"].size(), 10u);
  for (const auto& one : record["cases"]) {
    const bool ends = std::string(one["id"]).starts_with("doubling/crash/");
    EXPECT_EQ(one["status"], ends ? "failed" : "passed") << one;
    if (ends) {
      EXPECT_NE(one["reason"].dump().find(why), std::string::npos) << one;
    }
  }
  EXPECT_TRUE(record["finished"].is_string());
  EXPECT_FALSE(fs::exists(folder_ / "record.journal.jsonl"));
  for (const char* shape : {"256x256", "300x200"}) {
    const std::string said = "doubling/crash/" + std::string(shape) + " " + why;
    EXPECT_NE(outcome.output.find(said), std::string::npos) << outcome.output;
  }
}
constexpr End ends[] = {
    {"exit", "has called exit()"},
    {"abort", "has ended the process by SIGABRT"},
    {"thread", "has ended the process by SIGABRT"},
    {"hang", "hangs: its launches had not ended after"},
#ifndef __SANITIZE_ADDRESS__  // which has these end the process with what it has to say
    {"segfault", "has ended the process by SIGSEGV"},
    {"overflow", "has ended the process by SIGSEGV"},
#endif
};
INSTANTIATE_TEST_SUITE_P(MadeUp, DevicesWithARowThatEnds, testing::ValuesIn(ends),
                         [](const auto& info) { return std::string(info.param.first); });

// whom a debugger or a profiler ends, or looks for the end of
TEST_F(Devices, ThatAreToldNotToGoOnEndWithTheRow) {
  const auto outcome = measure("--shape=256x256 --strategy=crash --regime=hot",
                               "RECHECK_NO_RESCUE=1 MADE_UP_END=abort");
  EXPECT_NE(outcome.code, 0) << outcome.output;
  EXPECT_EQ(outcome.output.find("going on"), std::string::npos) << outcome.output;
  EXPECT_TRUE(fs::exists(folder_ / "record.journal.jsonl"));
}

TEST_F(Devices, ThatFindARowEndTheGateEndWithAnError) {
  const auto outcome = run("--gate --experiment=doubling --strategy=crash",
                           program("NVIDIA H200", "MADE_UP_END=exit"));
  EXPECT_EQ(outcome.code, 1) << outcome.output;
  EXPECT_NE(outcome.output.find("a row has called exit()"), std::string::npos) << outcome.output;
}

// a square is not left out for what a single row took
TEST_F(Devices, ThatAreSlowAtOneShapeAreTriedAtTheNext) {
  // the host computes; --per-case is long enough for one that is busy
  const auto outcome =
      measure("--shape=1x1024,512x512 --regime=hot --per-case=0.5", "MADE_UP_SLOW_ROWS=1");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const auto record = record_in("");
  for (const auto& one : record["cases"]) EXPECT_EQ(one["status"], "passed") << one;
  // and still is where it is as slow
  const auto slow = measure("--shape=1x1024,1x262144 --regime=hot", "MADE_UP_SLOWER=2000000");
  ASSERT_EQ(slow.code, 0) << slow.output;
  EXPECT_NE(slow.output.find("1 not_run"), std::string::npos) << slow.output;
}

TEST_F(Devices, ThatAreNotThereAreRefused) {
  expect_one_line(measure("--device=2"), 2, "--device=2: no CUDA device; nvidia-smi -L lists");
  expect_one_line(measure("--device=1", "CUDA_VISIBLE_DEVICES=0"), 2, "leaves 1 GPU, counted");
  expect_one_line(measure("--device=all", "", ""), 2, "there is no CUDA device here");
  expect_one_line(measure("--device=all", "CUDA_VISIBLE_DEVICES=0,7"), 2, "finds no GPU '7'");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Devices, TakeNoFlagsThatMakeNoSense) {
  expect_one_line(measure("--device=all --gate"), 2, "--gate proves on one GPU");
  expect_one_line(measure("--device=all --regime=lukewarm"), 2, "unknown regime");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Devices, ThatWaitForEachLaunchAreNotTimedUnlessByForce) {
  const auto blocking = [&](const std::string& flags, const char* value = "1") {
    return measure(one_shape + flags, std::string("CUDA_LAUNCH_BLOCKING=") + value);
  };
  for (const char* flags : {"", "--device=all"})
    expect_one_line(blocking(flags), 2, "CUDA_LAUNCH_BLOCKING=1 makes every launch wait");
  EXPECT_TRUE(fs::is_empty(folder_));
  for (const char* none : {"0", "''"}) EXPECT_EQ(blocking("", none).code, 0);
  EXPECT_EQ(blocking("--strategy=cpu").code, 0);
  EXPECT_EQ(blocking("--force").code, 0);
  EXPECT_NE(record_in("")["environment"]["conditions"].dump().find("\"launch_blocking\""),
            std::string::npos);
}

TEST_F(Devices, AreMeasuredOneAfterTheOther) {
  const auto outcome = measure(one_shape + std::string("--device=all"));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(model_in("nvidia-h200-0"), "NVIDIA H200");
  EXPECT_EQ(model_in("nvidia-l4-1"), "NVIDIA L4");
  const auto first = outcome.output.find("GPU 0 (NVIDIA H200) into "),
             ended = outcome.output.find("finished after "),
             second = outcome.output.find("GPU 1 (NVIDIA L4) into ");
  EXPECT_LT(first, ended);
  EXPECT_LT(ended, second);
  // its command, as it stands in the record, measures that GPU again
  const std::string command = record_in("nvidia-l4-1")["environment"]["command"];
  EXPECT_NE(command.find("--device=1"), std::string::npos) << command;
  EXPECT_EQ(command.find("all"), std::string::npos) << command;
}

TEST_F(Devices, ThatAreHiddenAreNotMeasured) {
  const auto outcome = measure(one_shape + std::string("--device=all"), "CUDA_VISIBLE_DEVICES=2,0",
                               "NVIDIA H200,NVIDIA L4,NVIDIA H200");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(fs::exists(folder_ / "nvidia-h200-0/record.json"));
  EXPECT_TRUE(fs::exists(folder_ / "nvidia-h200-1/record.json"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
}

// what befalls one GPU is none of the others' business
TEST_F(Devices, ThatFailLeaveTheOthersRecords) {
  const std::string flags = std::string(one_shape) + "--device=all --strategy=gpu,crash ";
  const std::string crash = "MADE_UP_CRASH='NVIDIA L4'", three = "NVIDIA H200,NVIDIA L4,NVIDIA A10";
  const auto outcome = measure(flags, crash, three);
  EXPECT_EQ(outcome.code, 1) << outcome.output;
  EXPECT_NE(outcome.output.find("GPU 1 (NVIDIA L4) is not finished: ended by Killed; "),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(model_in("nvidia-h200-0"), "NVIDIA H200");
  EXPECT_EQ(model_in("nvidia-a10-2"), "NVIDIA A10");
  EXPECT_FALSE(fs::exists(folder_ / "nvidia-l4-1/record.json"));
  EXPECT_TRUE(fs::exists(folder_ / "nvidia-l4-1/record.journal.jsonl"));
  // and none begins while one of the folders holds such an end
  const auto twice = measure(flags, "", three);
  expect_one_line(twice, 1, "nvidia-l4-1 holds a run that was killed: go on with --resume");
  const auto resumed = measure(flags + "--resume", "", three);
  EXPECT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(model_in("nvidia-l4-1"), "NVIDIA L4");
}

TEST_F(Devices, KeepWhatTheyHaveAtASignal) {
  const std::string shapes = "--shape=700x700,701x700,702x700,703x700,704x700,705x700 ";
  const std::string flags =
      output() + " --experiment=doubling --strategy=cpu --per-case=1 " + shapes + "--device=all";
  const pid_t child = start(flags, program("NVIDIA H200,NVIDIA L4"));
  const auto journal = folder_ / "nvidia-h200-0/record.journal.jsonl";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto lines = [&] {
    const auto text = read(journal);
    return std::ranges::count(text, '\n');
  };
  while (lines() < 2 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  const auto first = record_in("nvidia-h200-0");
  EXPECT_TRUE(first["finished"].is_null());
  EXPECT_EQ(first["cases"][0]["status"], "passed");
  EXPECT_FALSE(fs::exists(folder_ / "nvidia-l4-1/record.json"));
  // and all of it is gone on with
  const auto resumed = measure("--strategy=cpu --per-case=1 " + shapes + "--device=all --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(record_in("nvidia-h200-0")["cases"][0], first["cases"][0]);
  for (const char* folder : {"nvidia-h200-0", "nvidia-l4-1"})
    EXPECT_FALSE(record_in(folder)["finished"].is_null());
}

// 20 ms a launch, where a microsecond was expected
TEST_F(Devices, ThatAreSlowerThanPredictedEndWithTheirBudget) {
  const auto outcome = measure(
      "--strategy=gpu --regime=hot --shape=256x256,257x256,258x256,259x256,260x256 --budget=0.8",
      "MADE_UP_SLOWER=60000");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const auto record = this->record();
  EXPECT_FALSE(record["finished"].is_null());
  EXPECT_TRUE(record["plan"]["dropped"].empty()) << record["plan"];
  ASSERT_EQ(record["cases"].size(), 5u);
  const auto& last = record["cases"][4];
  EXPECT_EQ(record["cases"][0]["status"], "passed") << record["cases"][0];
  EXPECT_EQ(last["status"], "not_run");
  EXPECT_EQ(last["reason_code"], "budget");
  EXPECT_EQ(last["reason"], "--budget of 0.8 used up");
}

// 4 GB, and three times as slow as its attributes promise
TEST_F(Devices, ThatAreSmallEndInTimeAndNameWhatDoesNotFit) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "proofs take several times as long under the sanitizers";
#endif
  const std::string small = "NVIDIA GeForce RTX 3050 Ti Laptop GPU";
  const auto go = [&] {
    return measure("--strategy=gpu --regime=hot --per-case=0.2 --budget=3s", "MADE_UP_SLOWER=3",
                   small);
  };
  auto outcome = go();
  // in time, where nobody else took the CPU meanwhile
  const auto late = [&] {
    const auto found = record();
    return found["wall_seconds"] >= 1.3 * 3 || found.dump().find("used up") != std::string::npos;
  };
  for (int i = 0; i < 3 && outcome.code == 0 && late(); ++i) outcome = go();
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const auto record = this->record();
  EXPECT_LT(record["wall_seconds"], 1.3 * 3);
  EXPECT_FALSE(record["finished"].is_null());
  for (const auto& c : record["cases"]) {
    if (c["id"] == "doubling/gpu/40000x40000/hot") {
      EXPECT_EQ(c["status"], "unsupported");
      EXPECT_TRUE(std::string(c["reason"]).ends_with("GB of device memory, 4.29 GB are free"))
          << c["reason"];
    }
    if (c["id"] == "doubling/gpu/512x512/hot") {
      EXPECT_EQ(c["status"], "passed") << c;
    }
  }
}

}  // namespace
}  // namespace recheck
