// SPDX-License-Identifier: Apache-2.0
//
// A management library with fixed answers, as an older driver's: it knows one GPU, has no MIG, and
// lacks some functions that newer ones have.
#include <unistd.h>

#include <cstring>

namespace {
constexpr int success = 0, not_supported = 3, not_found = 6, insufficient_size = 7;

struct ProcessInfo {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

int gpu;
}  // namespace

extern "C" {
// NVML's own names
// NOLINTBEGIN(readability-identifier-naming)

int fake_users = 0;

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
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  *celsius = 41;
  return sensor == 0 ? success : not_supported;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 123'500;
  return success;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  *millijoules = 5'000'000'000'250;  // more than 32 bits hold
  return success;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  *bits = 0x4 | 0x40 | 0x100 | 0x1000;
  return success;
}
int nvmlDeviceGetEccMode(void*, int* current, int* pending) {
  *current = 1;
  *pending = 0;
  return success;
}
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned*) {
  *current = 1;
  return not_supported;
}
// this process and 99 others: more than a first guess has room for
int nvmlDeviceGetComputeRunningProcesses_v2(void*, unsigned* count, ProcessInfo* processes) {
  const unsigned room = *count;
  *count = 100;
  if (room < *count) return insufficient_size;
  for (unsigned i = 0; i < *count; ++i) processes[i] = {getpid() + i, 1ULL << 40, ~0U, ~0U};
  return success;
}

// NOLINTEND(readability-identifier-naming)
}  // extern "C"
