// SPDX-License-Identifier: Apache-2.0
//
// A management library like an older driver's: it has one GPU, without MIG, and lacks some
// newer functions. Tests change its values during a run.
#include <unistd.h>

#include <cstring>

#include "../../experiments/harness/device/nvml.hpp"

namespace {
constexpr int success = 0, not_supported = 3, not_found = 6, insufficient_size = 7;

int gpu;

/// The id of the i-th process on the GPU; the first one is this process.
unsigned id_of(unsigned i) { return i == 0 ? static_cast<unsigned>(getpid()) : 1'000'000 + i; }
}  // namespace

extern "C" {
// NVML's own names
// NOLINTBEGIN(readability-identifier-naming)

int fake_users = 0;
unsigned fake_processes = 100;  // more than a first guess has room for
unsigned fake_milliwatts = 700'000;
unsigned fake_throttle = 0x4 | 0x40 | 0x100 | 0x1000;
unsigned fake_percent = 0;  // % of the GPU's time that each process uses

int nvmlInit_v2() {
  ++fake_users;
  return success;
}
int nvmlShutdown() {
  --fake_users;
  return success;
}
const char* nvmlErrorString(int code) { return code == not_found ? "Not Found" : "Not Supported"; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  *device = &gpu;
  return std::strcmp(bus_id, "0000:1B:00.0") == 0 ? success : not_found;
}
int nvmlDeviceGetUUID(const void* device, char* text, unsigned length) {
  if (device != &gpu || length < 80) return insufficient_size;
  std::strcpy(text, "GPU-fake");
  return success;
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  *milliwatts = fake_milliwatts;
  return success;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* total_free_used) {
  total_free_used[1] = 400'000'000;
  return success;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = 5'000'000'000'250;  // does not fit into 32 bits
  return success;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  *bits = fake_throttle;
  return success;
}
int nvmlDeviceGetEccMode(void*, int* current, int* pending) {
  *current = 1;
  *pending = 0;
  return success;
}
int nvmlDeviceGetMigMode(void*, unsigned*, unsigned*) { return not_supported; }
int nvmlDeviceGetComputeRunningProcesses_v2(void*, unsigned* count,
                                            recheck::ProcessInfo* processes) {
  const unsigned room = *count;
  *count = fake_processes;
  if (room < *count) return insufficient_size;
  for (unsigned i = 0; i < *count; ++i) processes[i] = {id_of(i), 1ULL << 40, ~0U, ~0U};
  return success;
}
int nvmlDeviceGetProcessUtilization(void*, recheck::UtilizationSample* samples, unsigned* count,
                                    unsigned long long) {
  if (fake_percent == 0) return not_found;
  // each process now, and much more ten seconds ago; and a process that has since ended
  constexpr unsigned long long now = 100'000'000;
  unsigned at = 0;
  for (unsigned i = 0; i < fake_processes; ++i) {
    samples[at++] = {id_of(i), now - 10'000'000, 99, 0, 0, 0};
    samples[at++] = {id_of(i), now, fake_percent, 0, 0, 0};
  }
  samples[at++] = {7, now - 5'000'000, 99, 0, 0, 0};
  *count = at;
  return success;
}

// NOLINTEND(readability-identifier-naming)
}  // extern "C"
