// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <span>

#include "cuda.hpp"
#include "device_kernels.hpp"
#include "ledger.hpp"
#include "method.hpp"
#include "nvml.hpp"
#include "statistics.hpp"
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

/// Any CUDA handle, destroyed with its scope; errors there have nobody to tell.
template <typename Handle, auto destroy>
class Owned {
 public:
  template <typename Create>
  explicit Owned(Create create) {
    create(&handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { destroy(handle_); }
  operator Handle() const { return handle_; }  // NOLINT: it is that handle

 private:
  Handle handle_ = nullptr;
};
using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using Blas = Owned<cublasHandle_t, cublasDestroy>;

/// The timer's own share of every interval: the median between two events with nothing between
/// them, on a device that has been busy for a moment.
double seconds_between_events() {
  const Stream stream([](cudaStream_t* s) { check(cudaStreamCreate(s)); });
  const auto create = [](cudaEvent_t* e) { check(cudaEventCreate(e)); };
  const Event begin(create), end(create);
  constexpr int warming = 100, count = 101;
  std::vector<double> seconds;
  for (int i = 0; i < warming + count; ++i) {
    hold(50'000, stream);
    check(cudaEventRecord(begin, stream));
    check(cudaEventRecord(end, stream));
    check(cudaStreamSynchronize(stream));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    if (i >= warming) seconds.push_back(milliseconds * 1e-3);
  }
  return middle(seconds);
}

class GpuTarget final : public Target {
 public:
  explicit GpuTarget(const Device& device)
      : device_(device),
        nvml_(device.pci_bus_id),
        stream_([](cudaStream_t* s) { check(cudaStreamCreate(s)); }),
        blas_([](cublasHandle_t* h) {
          if (cublasCreate(h) != CUBLAS_STATUS_SUCCESS)
            throw std::runtime_error("cuBLAS gives no handle on this device");
        }),
        flush_bytes_(std::max(method.flush_l2_sizes * device.l2_bytes, method.flush_least_bytes)),
        flush_(*this, flush_bytes_ / static_cast<std::int64_t>(sizeof(float))),
        scratch_(*this, clock_floats + 1) {
    cublasSetStream(blas_, stream_);
    check(cudaMemset(flush_.data(), 0, flush_bytes_));
  }

  [[nodiscard]] Backend backend() const override { return Backend::gpu; }
  [[nodiscard]] kernels::Queue queue() const override { return {stream_, blas_}; }

  [[nodiscard]] std::int64_t free_bytes() const override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total));
    return static_cast<std::int64_t>(free);
  }
  float* allocate(std::int64_t count) override {
    float* data = nullptr;
    check(cudaMalloc(&data, static_cast<std::size_t>(count) * sizeof(float)));
    return data;
  }
  void release(float* data) noexcept override { cudaFree(data); }

  void copy_in(float* to, const float* from, std::int64_t count) override {
    check(cudaMemcpy(to, from, static_cast<std::size_t>(count) * sizeof(float),
                     cudaMemcpyHostToDevice));
  }
  void copy_out(float* to, const float* from, std::int64_t count) override {
    check(cudaMemcpy(to, from, static_cast<std::size_t>(count) * sizeof(float),
                     cudaMemcpyDeviceToHost));
  }
  void poison(float* data, std::int64_t count) override {
    check(cudaMemsetAsync(data, 0xff, static_cast<std::size_t>(count) * sizeof(float), stream_));
    poison_shared(device_.sm_count, static_cast<int>(device_.shared_bytes_per_block), stream_);
    synchronize();
  }
  void synchronize() override {
    check(cudaGetLastError());
    check(cudaStreamSynchronize(stream_));
  }

  void warm_up(const std::function<void()>& launch) override {
    // until three looks at the clock in a row agree to half a percent; a clock that goes on
    // swinging is no reason to wait for ever
    constexpr double look = 0.02, at_most = 0.5;
    std::vector<double> clocks;
    for (const double start = now(); now() - start < at_most;) {
      clear_readings(2);
      read_clocks(readings(0), device_.sm_count, stream_);
      const double begin = now();
      do {
        launch();
        synchronize();
      } while (now() - begin < look);
      read_clocks(readings(1), device_.sm_count, stream_);
      clocks.push_back(clocks_between(2).front());
      const auto last = std::span(clocks).last(std::min<std::size_t>(3, clocks.size()));
      const auto [low, high] = std::ranges::minmax(last);
      if (last.size() == 3 && high < 1.005 * low) return;
    }
  }

  Samples sample(const Sampling& sampling, const std::function<void()>& launch) override {
    const auto [regime, wanted, batch, guess] = sampling;
    const int count = std::min(wanted, most_samples);
    while (events_.size() < 2 * static_cast<std::size_t>(count))
      events_.emplace_back(
          std::make_unique<Event>([](cudaEvent_t* e) { check(cudaEventCreate(e)); }));

    // what stands before the first event takes the device longer than the host needs to queue the
    // rest, so the launch waits for the device and its latency stays outside the interval
    // (of long launches it is too little to matter, and finding out would take another launch)
    const double queueing = guess < 1e-3 ? seconds_to_queue(launch) : 0;
    clear_readings(2 * count);
    for (int i = 0; i < count; ++i) {
      hold(20'000 + static_cast<std::int64_t>(2e9 * queueing * (batch + 1)), stream_);
      if (regime == Regime::cold) {
        flush_l2(reinterpret_cast<const float4*>(flush_.data()), flush_bytes_,
                 scratch_.data() + clock_floats, stream_);
      } else {
        launch();
      }
      read_clocks(readings(2 * i), device_.sm_count, stream_);
      check(cudaEventRecord(*events_[2 * i], stream_));
      for (int b = 0; b < batch; ++b) launch();
      check(cudaEventRecord(*events_[2 * i + 1], stream_));
      read_clocks(readings(2 * i + 1), device_.sm_count, stream_);
    }
    synchronize();

    Samples samples;
    for (int i = 0; i < count; ++i) {
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, *events_[2 * i], *events_[2 * i + 1]));
      samples.seconds.push_back((milliseconds * 1e-3 - device_.event_seconds) / batch);
    }
    samples.clock_hz = clocks_between(2 * count);
    return samples;
  }

  std::optional<Power> draw(const std::function<void()>& launch, double guess) override {
    // the counter of energy ticks every few tens of milliseconds: the window is from tick to tick
    constexpr double at_most = 1;
    const int chunk = std::max(1, static_cast<int>(5e-3 / guess));
    std::set<std::string> reasons;
    std::optional<double> last = nvml_.joules().value, first_joules;
    double first_time = 0, last_time = 0, seconds = 0;
    std::int64_t launches = 0, first_launches = 0, last_launches = 0;
    for (const double start = now();
         last && seconds < method.power_seconds && now() - start < at_most;) {
      for (int i = 0; i < chunk; ++i) launch();
      launches += chunk;
      synchronize();
      const auto joules = nvml_.joules().value;
      if (!joules || *joules == *last) continue;
      if (!first_joules) {
        first_joules = joules;
        first_time = now();
        first_launches = launches;
      }
      last = joules;
      last_time = now();
      last_launches = launches;
      seconds = last_time - first_time;
      for (const auto& reason : nvml_.throttle().value.value_or(std::vector<std::string>{}))
        reasons.insert(reason);
    }
    if (!first_joules || !last || seconds <= 0) return {};
    const double drawn = *last - *first_joules;
    return Power{.watts = drawn / seconds,
                 .joules = drawn / static_cast<double>(last_launches - first_launches),
                 .seconds = seconds,
                 .temperature_c = nvml_.temperature_c().value.value_or(0),
                 .throttle = {reasons.begin(), reasons.end()}};
  }

 private:
  static constexpr int most_samples = 32;  // of one call
  static constexpr std::int64_t clock_floats =
      2 * most_samples * clock_slots *
      static_cast<std::int64_t>(sizeof(ClockReading) / sizeof(float));

  /// Where the clocks of all multiprocessors are read to, for the i-th time.
  ClockReading* readings(int i) {
    return reinterpret_cast<ClockReading*>(scratch_.data()) + i * clock_slots;
  }

  void clear_readings(int count) {
    check(cudaMemsetAsync(readings(0), 0, count * clock_slots * sizeof(ClockReading), stream_));
  }

  /// Cycles over time between each even reading and the odd one after it, on a multiprocessor that
  /// both have seen; 0 if there is none.
  std::vector<double> clocks_between(int count) {
    std::vector<ClockReading> all(static_cast<std::size_t>(count) * clock_slots);
    check(cudaMemcpy(all.data(), readings(0), all.size() * sizeof(ClockReading),
                     cudaMemcpyDeviceToHost));
    std::vector<double> clocks;
    for (const auto* pair = all.data(); clocks.size() < static_cast<std::size_t>(count) / 2;
         pair += 2 * clock_slots) {
      double clock = 0;
      for (int sm = 0; sm < clock_slots && clock == 0; ++sm) {
        const auto &begin = pair[sm], &end = pair[clock_slots + sm];
        if (begin.nanoseconds != 0 && end.nanoseconds > begin.nanoseconds)
          clock = static_cast<double>(end.cycles - begin.cycles) * 1e9 /
                  static_cast<double>(end.nanoseconds - begin.nanoseconds);
      }
      clocks.push_back(clock);
    }
    return clocks;
  }

  /// How long the host needs for a launch while the device has something else to do.
  double seconds_to_queue(const std::function<void()>& launch) const {
    hold(20'000, stream_);
    const double start = now();
    launch();
    return now() - start;
  }

  Device device_;
  Nvml nvml_;
  Stream stream_;
  Blas blas_;
  std::int64_t flush_bytes_;
  Array flush_;
  Array scratch_;  // clock readings, and one float that flush_l2 might write
  std::vector<std::unique_ptr<Event>> events_;
};

}  // namespace

Reason unusable(cudaError_t code, int device_count, int driver_version, int runtime_version) {
  if (driver_version != 0 && driver_version / 1000 < runtime_version / 1000)
    return "the NVIDIA driver supports CUDA " + version_text(driver_version) +
           ", older than the runtime's " + version_text(runtime_version) +
           ": update the driver or build with an older CUDA Toolkit";
  if (driver_version == 0 || code == cudaErrorNoDevice ||
      (code == cudaSuccess && device_count == 0))
    return "no CUDA device";
  if (code != cudaSuccess) return std::string("no CUDA device: ") + cudaGetErrorString(code);
  return {};
}

Gpu find_gpu() {
  int count = 0, driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  const auto code = cudaGetDeviceCount(&count);
  cudaGetLastError();
  Gpu gpu{.device = {},
          .reason = unusable(code, count, driver, runtime),
          .driver = driver != 0 ? version_text(driver) : "",
          .runtime = version_text(runtime)};
  if (gpu.reason) return gpu;
  try {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, 0));
    gpu.device = Device{
        .name = properties.name,
        .compute_capability = 10 * properties.major + properties.minor,
        .sm_count = properties.multiProcessorCount,
        .l2_bytes = properties.l2CacheSize,
        .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
        .shared_bytes_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin),
        .clock_hz = 1e3 * static_cast<double>(attribute(cudaDevAttrClockRate)),
        .memory_clock_hz = 1e3 * static_cast<double>(attribute(cudaDevAttrMemoryClockRate)),
        .memory_bus_bits = properties.memoryBusWidth,
        .pci_bus_id = pci_bus_id(),
        .event_seconds = seconds_between_events()};
  } catch (const CudaError& error) {
    gpu.reason = std::string("no CUDA device: ") + error.what();
  }
  return gpu;
}

std::unique_ptr<Target> make_gpu_target(const Device& device) {
  return std::make_unique<GpuTarget>(device);
}

}  // namespace recheck
