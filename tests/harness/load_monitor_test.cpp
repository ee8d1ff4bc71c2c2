// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/device/load_monitor.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "../../experiments/harness/keep/record.hpp"
#include "temporary_folder.hpp"

namespace recheck {
namespace {

using Json = nlohmann::ordered_json;

/// A GPU with simulated other processes.
class GpuLoad : public TemporaryFolder {
 public:
  ~GpuLoad() override {
    processes() = 100;
    dlclose(library_);
  }

 protected:
  GpuLoad() : library_(dlopen(FAKE_NVML, RTLD_NOW)) { processes() = 1; }
  [[nodiscard]] unsigned& of(const char* name) const {
    return *static_cast<unsigned*>(dlsym(library_, name));
  }
  [[nodiscard]] unsigned& processes() const { return of("fake_processes"); }
  static Json noted(const LoadMonitor& monitor) {
    Json environment = start();
    monitor.note(environment);
    return environment;
  }
  /// The part of the environment at a run's start that matters here.
  static Json start() {
    return {{"started", "2026-01-01T00:00:00Z"},
            {"gpu", {{"power_limit_watts", 700}}},
            {"state", {{"other_processes", 0}, {"other_gpu_percent", 0}}},
            {"unknown", Json::object()}};
  }

  void* library_;
  const char* bus_id_ = "0000:1B:00.0";
};

TEST_F(GpuLoad, ReportsChangesAndRecordsTheMostProcessesAtOnce) {
  LoadMonitor monitor(bus_id_, FAKE_NVML, "/nowhere");
  EXPECT_TRUE(monitor.look(true).empty());
  EXPECT_EQ(noted(monitor), start());
  processes() = 3;
  const auto changes = monitor.look(true);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].starts_with("2 other process(es) on the GPU now")) << changes[0];
  EXPECT_TRUE(monitor.look(true).empty());  // reported only once
  processes() = 1;
  EXPECT_TRUE(monitor.look(true).empty());
  EXPECT_EQ(noted(monitor)["state"]["other_processes"], 2);
  processes() = 2;
  EXPECT_EQ(monitor.look(true).size(), 1u);
  EXPECT_EQ(noted(monitor)["state"]["other_processes"], 2);
}

// a process on the GPU need not use it
TEST_F(GpuLoad, DistinguishesUseFromPresence) {
  processes() = 3;
  LoadMonitor monitor(bus_id_, FAKE_NVML, "/nowhere");
  EXPECT_EQ(monitor.take().gpu_percent, 0);
  EXPECT_EQ(noted(monitor)["state"]["other_gpu_percent"], 0);
  of("fake_percent") = 30;
  monitor.look(true);
  EXPECT_EQ(monitor.take().gpu_percent, 60);  // of two others, without this one
  of("fake_percent") = 1;
  monitor.look(true);
  EXPECT_EQ(monitor.take().gpu_percent, 60);  // the load at the start
  EXPECT_EQ(monitor.take().gpu_percent, 2);
  EXPECT_EQ(noted(monitor)["state"]["other_gpu_percent"], 60);
  of("fake_percent") = 0;
}

TEST_F(GpuLoad, ReportsAHotGpu) {
  LoadMonitor monitor(bus_id_, FAKE_NVML, "/nowhere");
  EXPECT_TRUE(monitor.take().hot);  // "hw_thermal_slowdown"
  of("fake_throttle") = 4;          // "sw_power_cap", which is normal in any large product
  monitor.look(true);
  EXPECT_TRUE(monitor.take().hot);  // the load at the start
  EXPECT_FALSE(monitor.take().hot);
  of("fake_throttle") = 0x1144;
}

TEST_F(GpuLoad, LooksOnceASecond) {
  processes() = 4;
  LoadMonitor monitor(bus_id_, FAKE_NVML, "/nowhere");
  const auto changes = monitor.look();  // lists processes that were there from the start
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].starts_with("3 other process(es) on the GPU now")) << changes[0];
  processes() = 3;
  EXPECT_TRUE(monitor.look().empty());
}

TEST_F(GpuLoad, IsUnknownIfTheDriverListsNoProcesses) {
  processes() = 0;
  LoadMonitor monitor(bus_id_, FAKE_NVML, "/nowhere");
  EXPECT_TRUE(monitor.look(true).empty());
  Json environment = start();
  environment["state"]["other_processes"] = nullptr;
  monitor.note(environment);
  EXPECT_TRUE(environment["state"]["other_processes"].is_null());
  EXPECT_EQ(environment["unknown"]["state.other_processes"],
            "not measured: the driver lists no process here, not even this one");
}

/// A host with simulated CPU times.
class HostLoad : public GpuLoad {
 protected:
  /// Sets the CPU seconds in the format of proc_stat(5), plus as much idle and waiting time.
  void spent(double seconds) const {
    const auto ticks = std::llround(seconds * static_cast<double>(sysconf(_SC_CLK_TCK)));
    cpu_set_t cpus;
    ASSERT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    int own = 0;
    while (!CPU_ISSET(own, &cpus)) ++own;
    // CPUs that this process may not use do not count
    std::ofstream(stat_) << "cpu  1 2 " << 9 * ticks << " 900 9 0 0 0 0 0\ncpu" << own << " 7 0 "
                         << ticks - 7 << " 900 9 0 0 0 0 0\ncpu1000 1 2 3 4 5 6 7 8 9 10\nintr 1\n";
  }
  [[nodiscard]] double own() const { return cpu_seconds(stat_.c_str())->own; }

  std::string stat_ = folder_ / "stat";
};

TEST_F(HostLoad, RecordsTheMostCpusThatOthersUsed) {
  spent(1000);
  LoadMonitor monitor(bus_id_, FAKE_NVML, stat_.c_str(), 0.05);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  spent(2000);
  const auto changes = monitor.look(true);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_TRUE(changes[0].starts_with("other processes are using ")) << changes[0];
  const int most = noted(monitor)["state"]["other_cpus"];
  EXPECT_GT(most, 10);  // 1000 s within the short time of this test
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_TRUE(monitor.look(true).empty());
  EXPECT_EQ(noted(monitor)["state"]["other_cpus"], most);
}

TEST_F(HostLoad, ExcludesThisProcess) {
  spent(1000);
  LoadMonitor monitor(bus_id_, FAKE_NVML, stat_.c_str(), 0.05);
  const double before = own();
  while (own() < before + 0.1) {
  }
  // busy-waiting threads take more CPU time than wall time
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  spent(1000 + own() - before);
  EXPECT_TRUE(monitor.look(true).empty());
  EXPECT_EQ(noted(monitor)["state"]["other_cpus"], 0);
}

TEST_F(HostLoad, ReportsNothingForAShortTime) {
  spent(1000);
  LoadMonitor monitor(bus_id_, FAKE_NVML, stat_.c_str(), 1000);
  spent(2000);
  EXPECT_TRUE(monitor.look(true).empty());
  EXPECT_EQ(noted(monitor), start());
}

TEST_F(HostLoad, IsUnknownIfTheSystemReportsNothing) {
  for (const char* text :
       {"", "cpu", "cpu0 1 2 3\n", "intr 1 2 3 4 5 6 7 8 9\n", "cpu0 a b c d e f g h"}) {
    std::ofstream(stat_) << text;
    EXPECT_FALSE(cpu_seconds(stat_.c_str())) << text;
  }
  EXPECT_FALSE(cpu_seconds("/nowhere"));
  EXPECT_TRUE(cpu_seconds());  // Linux has it
}

// the record keeps what was seen before it was resumed
TEST_F(GpuLoad, SurvivesAResumedRun) {
  LoadMonitor monitor(bus_id_, FAKE_NVML, "/nowhere");
  processes() = 3;
  monitor.look(true);
  Record measured{.environment = start(), .ceilings = {}, .cases = {}}, again = measured;
  monitor.note(measured.environment);
  again.resume({measured.head()});
  EXPECT_EQ(again.environment, measured.environment);
}

}  // namespace
}  // namespace recheck
