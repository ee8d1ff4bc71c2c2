// SPDX-License-Identifier: Apache-2.0
//
// A management library as an older driver's: it knows one GPU, has no MIG at first, and lacks some
// functions that newer ones have. Tests set what may change while a run goes on.
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
unsigned fake_processes = 100;  // more than a first guess has room for
unsigned fake_milliwatts = 700'000, fake_megahertz = 1980;
int fake_mig = 0;  // whether it has MIG, which is on then

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
int nvmlDeviceGetApplicationsClock(void*, int type, unsigned* megahertz) {
  *megahertz = fake_megahertz;
  return type == 1 ? success : not_supported;
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
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  *current = *pending = 1;
  return fake_mig != 0 ? success : not_supported;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = &gpu;
  return fake_mig != 0 && std::strcmp(uuid, "MIG-fake") == 0 ? success : not_found;
}
int nvmlDeviceGetComputeRunningProcesses_v2(void*, unsigned* count, ProcessInfo* processes) {
  const unsigned room = *count;
  *count = fake_processes;
  if (room < *count) return insufficient_size;
  for (unsigned i = 0; i < *count; ++i) processes[i] = {i + 1, 1ULL << 40, ~0U, ~0U};
  return success;
}

// NOLINTEND(readability-identifier-naming)
}  // extern "C"
