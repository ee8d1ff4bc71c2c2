// SPDX-License-Identifier: Apache-2.0
//
// The GPU: finding a usable one, its properties, and the first work of a process on it.

#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../../kernels/code.hpp"
#include "../base/clock.hpp"
#include "../base/statistics.hpp"
#include "cuda.hpp"
#include "hold.hpp"
#include "nvml.hpp"
#include "target.hpp"

namespace recheck {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::int64_t attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0));
  return value;
}

std::string pci_bus_id() {
  char id[32] = {};
  check(cudaDeviceGetPCIBusId(id, sizeof(id), 0));
  return id;
}

/// On a device that has been busy for a moment, measures the interval between two adjacent events,
/// which is the timer's overhead in every interval. The clock's step is the smallest difference
/// between intervals of many lengths.
void measure_event_clock(Device& device) {
  const Stream stream([](cudaStream_t* s) { check(cudaStreamCreate(s)); });
  const auto create = [](cudaEvent_t* e) { check(cudaEventCreate(e)); };
  const Event begin(create), end(create);
  Hold hold;
  constexpr int warming = 100, count = 101, longest = 4000;  // longest: nanoseconds
  std::vector<double> empty, waits;
  for (int i = 0; i < warming + 2 * count; ++i) {
    const bool waiting = i >= warming + count;
    hold.begin(stream);
    check(cudaEventRecord(begin, stream));
    if (waiting) recheck::hold(nullptr, 0, (i - warming - count) * longest / count, stream);
    check(cudaEventRecord(end, stream));
    hold.release();
    check(cudaStreamSynchronize(stream));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    if (i >= warming) (waiting ? waits : empty).push_back(milliseconds * 1e-3);
  }
  std::ranges::sort(waits);
  double step = waits.back();
  for (int i = 1; i < count; ++i)
    if (const double gap = waits[i] - waits[i - 1]; gap > 0.5e-9) step = std::min(step, gap);
  device.event_seconds = middle(empty);
  device.event_step_seconds = std::round(step * 1e9) * 1e-9;
}

/// Such as "13.1.1"; the query creates no context.
std::string cublas_version() {
  std::string text;
  for (const auto part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int value = 0;
    if (cublasGetProperty(part, &value) != CUBLAS_STATUS_SUCCESS) return "";
    text += (text.empty() ? "" : ".") + std::to_string(value);
  }
  return text;
}

}  // namespace

Reason unusable(cudaError_t code, int device_count, int driver_version, int runtime_version) {
  if (driver_version != 0 && driver_version / 1000 < runtime_version / 1000)
    return "the NVIDIA driver supports CUDA " + version_text(driver_version) +
           ", older than the runtime's " + version_text(runtime_version) +
           ": update the driver or build with an older CUDA Toolkit";
  if (driver_version == 0 || code == cudaErrorNoDevice ||
      (code == cudaSuccess && device_count == 0))
    return "no CUDA device";
  if (code != cudaSuccess)
    return std::string("the CUDA device cannot be used: ") + cudaGetErrorString(code);
  return {};
}

namespace {

/// The message for a device with too little memory for a context.
std::string no_context(const std::string& pci_bus_id) {
  constexpr double context_bytes = 0.5e9;  // about, on an H100 or H200
  const auto free = Nvml(pci_bus_id).free_bytes();
  return free.value
             ? not_enough_memory("GPU", context_bytes, *free.value)
             : "not enough GPU memory for a CUDA context, and how much is free is " + free.reason;
}

}  // namespace

Gpu find_gpu() {
  int count = 0, driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  const auto code = cudaGetDeviceCount(&count);
  cudaGetLastError();
  Gpu gpu{.device = {},
          .reason = unusable(code, count, driver, runtime),
          .driver = driver != 0 ? version_text(driver) : "",
          .runtime = version_text(runtime),
          .cublas = cublas_version()};
  if (gpu.reason) return gpu;
  std::string bus_id;
  try {
    bus_id = pci_bus_id();
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0));
    gpu.device = Device{
        .name = properties.name,
        .compute_capability = 10 * properties.major + properties.minor,
        .sm_count = properties.multiProcessorCount,
        .l2_bytes = properties.l2CacheSize,
        .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
        .free_bytes = free_memory(),
        .shared_bytes_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin),
        .clock_hz = 1e3 * static_cast<double>(attribute(cudaDevAttrClockRate)),
        .memory_clock_hz = 1e3 * static_cast<double>(attribute(cudaDevAttrMemoryClockRate)),
        .memory_bus_bits = properties.memoryBusWidth,
        .pci_bus_id = bus_id,
        .code = kernels::code_here(10 * properties.major + properties.minor)};
    measure_event_clock(*gpu.device);
  } catch (const CudaError& error) {
    gpu.reason = error.out_of_memory
                     ? no_context(bus_id)
                     : std::string("the CUDA device cannot be used: ") + error.what();
  }
  return gpu;
}

FirstCall first_call(const Strategy& strategy, const Shape& shape,
                     std::span<const HostMatrix> inputs, std::span<const Placed> outputs,
                     std::span<float> copied) {
  const auto bytes = [](std::int64_t floats) { return static_cast<std::size_t>(floats) * 4; };
  FirstCall call{.begin = now()};
  check(cudaFree(nullptr));
  call.context = now();
  std::vector<float*> memory;
  std::vector<Matrix> operands;
  const auto allocate = [&](std::int64_t floats) {
    check(cudaMalloc(&memory.emplace_back(), bytes(floats)));
    return memory.back();
  };
  for (const HostMatrix& input : inputs) {
    const auto floats = std::ssize(input.elements);
    operands.push_back({allocate(floats), input.ld, input.element});
    check(cudaMemcpy(memory.back(), input.elements.data(), bytes(floats), cudaMemcpyHostToDevice));
  }
  for (const Placed& output : outputs) {
    operands.push_back({allocate(output.floats()), output.ld, output.extent.element});
    if (!output.extent.starts_as) continue;
    const HostMatrix& from = inputs[static_cast<std::size_t>(*output.extent.starts_as)];
    const auto size = static_cast<std::size_t>(size_of(from.element));
    check(cudaMemcpy2D(memory.back(), output.ld * size, from.elements.data(), from.ld * size,
                       from.columns * size, from.rows, cudaMemcpyHostToDevice));
  }
  kernels::Queue queue;
  if (strategy.workspace != nullptr) queue.workspace = allocate(strategy.workspace(shape));
  // a row with a queue but no workspace needs the library's handle
  const bool wants_blas = strategy.launch.queue && strategy.workspace == nullptr;
  if (wants_blas && cublasCreate(&queue.blas) != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error("cuBLAS could not create a handle on this device");
  strategy.launch.run({shape, operands, queue});
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    check(cudaMemcpy(copied.data() + outputs[i].at, operands[inputs.size() + i].data,
                     bytes(outputs[i].floats()), cudaMemcpyDeviceToHost));
  if (queue.blas != nullptr) cublasDestroy(queue.blas);
  for (float* array : memory) check(cudaFree(array));
  call.end = now();
  return call;
}

}  // namespace recheck
