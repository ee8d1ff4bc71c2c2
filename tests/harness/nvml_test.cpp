// SPDX-License-Identifier: Apache-2.0
#include "../../experiments/harness/device/nvml.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "../targets.hpp"

namespace recheck {
namespace {

constexpr const char* bus_id = "0000:1B:00.0";

TEST(Nvml, SaysWhatIsMissing) {
  const struct {
    const char *bus_id, *library, *reason;
  } all[] = {
      {bus_id, "libno-such-nvml.so.1", "libno-such-nvml.so.1 was not found"},
      {bus_id, "libm.so.6", "libm.so.6 has no nvmlInit_v2"},
      {"0000:1C:00.0", FAKE_NVML, "nvmlDeviceGetHandleByPciBusId_v2: Not Found"},
  };
  for (const auto& [bus, library, why] : all) {
    const Nvml nvml(bus, library);
    const std::string reason = std::string("not measured: ") + why;
    EXPECT_EQ(nvml.absent(), reason);
    EXPECT_FALSE(nvml.uuid().value);
    EXPECT_EQ(nvml.joules().reason, reason);
    EXPECT_EQ(nvml.throttle().reason, reason);
    EXPECT_EQ(nvml.other_processes().reason, reason);
  }
}

TEST(Nvml, AnswersInSiUnitsAndWords) {
  const Nvml nvml(bus_id, FAKE_NVML);
  ASSERT_FALSE(nvml.absent()) << *nvml.absent();
  EXPECT_EQ(nvml.uuid().value, "GPU-fake");
  EXPECT_EQ(nvml.limit_watts().value, 700);
  EXPECT_EQ(nvml.free_bytes().value, 4e8);
  EXPECT_EQ(nvml.joules().value, 5'000'000'000.25);
  EXPECT_EQ(nvml.ecc().value, true);
  EXPECT_EQ(nvml.ecc().reason, "");
  EXPECT_EQ(nvml.other_processes().value, 99);
  const std::vector<std::string> names = {"sw_power_cap", "hw_thermal_slowdown",
                                          "display_clock_setting", "bit_12"};
  EXPECT_EQ(nvml.throttle().value, names);
}

TEST(Nvml, SaysWhatTheDriverRefusesOrLacks) {
  const Nvml nvml(bus_id, FAKE_NVML);
  EXPECT_FALSE(nvml.mig().value);
  EXPECT_EQ(nvml.mig().reason, "not measured: nvmlDeviceGetMigMode: Not Supported");
  EXPECT_FALSE(nvml.temperature_c().value);
  EXPECT_EQ(nvml.temperature_c().reason,
            "not measured: the driver has no nvmlDeviceGetTemperature");
}

TEST(Nvml, LeavesTheLibraryInitialisedAsBefore) {
  void* library = dlopen(FAKE_NVML, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto* users = static_cast<const int*>(dlsym(library, "fake_users"));
  {
    const Nvml nvml(bus_id, FAKE_NVML), without_gpu("0000:1C:00.0", FAKE_NVML);
    EXPECT_EQ(*users, 2);
  }
  EXPECT_EQ(*users, 0);
  dlclose(library);
}

using gpu_Nvml = OnGpu;
// the real library: checks our own declarations of its functions and structures
TEST_F(gpu_Nvml, AnswersPlausibly) {
  const Nvml nvml(gpu.device->pci_bus_id);
  if (nvml.absent().value_or("").ends_with("was not found")) GTEST_SKIP() << *nvml.absent();
  ASSERT_FALSE(nvml.absent()) << *nvml.absent();

  const auto uuid = nvml.uuid();
  EXPECT_TRUE(uuid.value.value_or("").starts_with("GPU-")) << uuid.reason;
  const auto temperature = nvml.temperature_c();
  ASSERT_TRUE(temperature.value) << temperature.reason;
  EXPECT_GT(*temperature.value, 5);
  EXPECT_LT(*temperature.value, 110);
  const auto processes = nvml.other_processes();
  if (processes.value) {
    EXPECT_GE(*processes.value, 0);
    EXPECT_LT(*processes.value, 1000);
  } else {
    EXPECT_EQ(processes.reason,
              "not measured: the driver lists no process here, not even this one");
  }
  EXPECT_TRUE(nvml.throttle().value) << nvml.throttle().reason;

  const auto limit = nvml.limit_watts(), before = nvml.joules();
  if (!limit.value || !before.value) GTEST_SKIP() << limit.reason << before.reason;
  EXPECT_GT(*limit.value, 20);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double spent = *nvml.joules().value - *before.value;
  EXPECT_GT(spent, 0);
  EXPECT_LT(spent, 2 * *limit.value);
}

}  // namespace
}  // namespace recheck
