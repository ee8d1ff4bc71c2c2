// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "../base/clock.hpp"
#include "../base/statistics.hpp"
#include "../table/method.hpp"
#include "back_to_back.hpp"
#include "cuda.hpp"
#include "device_kernels.hpp"
#include "flush.hpp"
#include "hold.hpp"
#include "meter.hpp"
#include "nvml.hpp"
#include "sm_clock.hpp"
#include "staging.hpp"
#include "target.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace recheck {
namespace {

/// A range in which profilers see launches. Small installations of the toolkit lack NVTX; then
/// ncu.py counts one case at a time.
struct NamedRange {
#if __has_include(<nvtx3/nvToolsExt.h>)
  explicit NamedRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~NamedRange() { nvtxRangePop(); }
#else
  explicit NamedRange(const std::string&) {}
#endif
  NamedRange(const NamedRange&) = delete;
  NamedRange& operator=(const NamedRange&) = delete;
};

using Blas = Owned<cublasHandle_t, cublasDestroy>;

/// Approximate memory of a cuBLAS handle with its kernels.
constexpr std::int64_t blas_bytes = 256 << 20;

class GpuTarget final : public Target {
 public:
  explicit GpuTarget(const Device& device)
      : device_(device),
        nvml_(device.pci_bus_id),
        stream_([](cudaStream_t* s) { check(cudaStreamCreate(s)); }),
        blas_([](cublasHandle_t* h) {
          if (cublasCreate(h) == CUBLAS_STATUS_SUCCESS) return;
          cudaGetLastError();
          // it returns the same code without memory and without a device
          if (const auto free = free_memory(); free < blas_bytes)
            throw DeviceError(not_enough_memory("GPU", static_cast<double>(blas_bytes),
                                                static_cast<double>(free)),
                              true);
          throw std::runtime_error("cuBLAS could not create a handle on this device");
        }),
        flush_(device.l2_bytes),
        clock_(device.sm_count, stream_) {
    cublasSetStream(blas_, stream_);
  }

  [[nodiscard]] Backend backend() const override { return Backend::gpu; }
  [[nodiscard]] kernels::Queue queue() const override { return {stream_, blas_}; }

  [[nodiscard]] std::int64_t free_bytes() const override { return free_memory(); }
  float* allocate(std::int64_t count) override { return device_floats(count); }
  void release(float* data) noexcept override { cudaFree(data); }

  void copy_in(float* to, const float* from, std::int64_t count) override {
    check(cudaMemcpy(to, from, bytes_of(count), cudaMemcpyHostToDevice));
  }
  void copy_out(float* to, const float* from, std::int64_t count) override {
    check(cudaMemcpy(to, from, bytes_of(count), cudaMemcpyDeviceToHost));
  }
  void load(float* to, const float* from, std::int64_t count) override {
    if (Staging* staging = staging_of(count))
      staging->copy_in(to, from, bytes_of(count));
    else
      copy_in(to, from, count);
  }
  void save(float* to, const float* from, std::int64_t count) override {
    if (Staging* staging = staging_of(count))
      staging->copy_out(to, from, bytes_of(count));
    else
      copy_out(to, from, count);
  }
  void poison(float* data, std::int64_t count) override {
    queue_poison(data, count);
    poison_shared(device_.sm_count, static_cast<int>(device_.shared_bytes_per_block), stream_);
    synchronize();
  }
  std::vector<std::uint64_t> digests(std::span<const std::span<const float>> arrays) override {
    std::vector<unsigned long long> sums(arrays.size());
    const auto bytes = sums.size() * sizeof(sums[0]);
    const Array room(*this, static_cast<std::int64_t>(bytes / sizeof(float)));
    auto* on_device = reinterpret_cast<unsigned long long*>(room.data());
    check(cudaMemsetAsync(on_device, 0, bytes, stream_));
    for (std::size_t i = 0; i < arrays.size(); ++i)
      add_digest(arrays[i].data(), std::ssize(arrays[i]), on_device + i, stream_);
    synchronize();
    check(cudaMemcpy(sums.data(), on_device, bytes, cudaMemcpyDeviceToHost));
    return {sums.begin(), sums.end()};
  }
  void queue_exchange(float* a, float* b, std::int64_t count) override {
    exchange(a, b, count, stream_);
  }
  void queue_copy(float* to, const float* from, std::int64_t count) override {
    check(cudaMemcpyAsync(to, from, bytes_of(count), cudaMemcpyDeviceToDevice, stream_));
  }
  void queue_poison(float* data, std::int64_t count) override {
    check(cudaMemsetAsync(data, 0xff, bytes_of(count), stream_));
  }
  void synchronize() override {
    check(cudaGetLastError());
    check(cudaStreamSynchronize(stream_));
  }

  void warm_up(const std::function<void()>& launch) override {
    // until three consecutive readings of the clock agree within 0.5 %; stop after 0.5 s even if
    // the clock is still fluctuating
    constexpr double look = 0.02, at_most = 0.5;
    std::vector<double> clocks;
    for (const double start = now(); now() - start < at_most;) {
      clock_.clear(2);
      clock_.read(0);
      const double begin = now();
      do {
        launch();
        synchronize();
      } while (now() - begin < look);
      clock_.read(1);
      clocks.push_back(clock_.between(2).front());
      const auto last = std::span(clocks).last(std::min<std::size_t>(3, clocks.size()));
      const auto [low, high] = std::ranges::minmax(last);
      if (last.size() == 3 && high < 1.005 * low) return;
    }
  }

  void show(const std::string& name, const std::function<void()>& launch) override {
    check(cudaProfilerStart());
    const NamedRange range(name);
    launch();
    synchronize();
    check(cudaProfilerStop());
  }

  Samples sample(const Sampling& sampling, const std::function<void()>& launch) override {
    const int count = std::min(sampling.count, most_samples), batch = sampling.batch;
    const bool drained = kind_of(sampling.regime).drains;
    have_events(2);
    clock_.clear(2 * count);
    if (drained && !drain_) drain_ = std::make_unique<Flush>(device_.l2_bytes);
    Samples samples;
    std::vector<double> drains;
    static_assert(method.queued_samples == 1);
    // The device starts a sample only when all of it is queued, so no launch waits for the host.
    // Only one sample is queued at a time: with several, the device fetches some commands within
    // the interval, which takes 0.5 to 0.7 us on some hosts and nothing on others (H200).
    for (int i = 0; i < count; ++i) {
      hold_.begin(stream_);
      flush_or_warm(sampling, launch);
      clock_.read(2 * i);
      record(0);
      for (int b = 0; b < batch; ++b) launch();
      if (drained) drain_->queue(stream_);
      record(1);
      clock_.read(2 * i + 1);
      hold_.release();
      synchronize();
      samples.seconds.push_back(seconds_between(0, 1) / batch);
      if (drained) drains.push_back(seconds_of_drain());
    }
    if (sampling.fresh != nullptr) launch_fresh(sampling, launch);
    if (count > 0) samples.clock_hz = clock_.between(2 * count);
    // the median: one disturbed drain must not make a launch look fast
    const double drain = drains.empty() ? 0 : middle(drains);
    for (double& seconds : samples.seconds)
      seconds = std::max(seconds - drain, drained ? device_.event_step_seconds : 0);
    return samples;
  }

  Sustained sustain(const std::function<void()>& once, double guess,
                    const std::function<void()>& restore) override {
    BackToBack busy(stream_, guess);
    Sustained all{.seconds = {}, .clock_hz = {}};
    const auto launch = [&] {
      if (restore) restore();
      once();
    };
    const double chunk_seconds = settle(busy, launch, all.settling);
    const auto chunks = std::max<std::int64_t>(
        1, std::llround(method.sustained_seconds / (sustained_windows * chunk_seconds)));
    const std::int64_t first = busy.queued(), end = first + sustained_windows * chunks;
    clock_.clear(2 * sustained_windows);
    if (restore) have_events(static_cast<int>(2 * (end - first)));
    const auto mark = [&](std::int64_t chunk, bool begins) {
      const auto at = chunk - first;
      // a chunk's time includes its restores, so one extra launch is timed separately
      if (restore && begins && chunk < end) {
        restore();
        record(2 * at);
        once();
        record(2 * at + 1);
      }
      if (chunk < end && at % chunks == (begins ? 0 : chunks - 1))
        clock_.read(static_cast<int>(2 * (at / chunks)) + (begins ? 0 : 1));
    };
    Meter meter(nvml_);
    while (std::ssize(busy.seconds()) < end) {
      busy.feed(launch, mark);
      meter.look();
    }
    synchronize();
    for (int i = 0; i < sustained_windows; ++i) {
      std::vector<double> alone;
      for (auto at = i * chunks; restore && at < (i + 1) * chunks; ++at)
        alone.push_back(seconds_between(static_cast<int>(2 * at), static_cast<int>(2 * at + 1)));
      all.seconds.push_back(
          restore ? mean_of(alone)
                  : mean_of(std::span(busy.seconds()).subspan(first + i * chunks, chunks)) /
                        busy.launches());
    }
    all.clock_hz = clock_.between(2 * sustained_windows);
    all.power = meter.power(mean_of(all.seconds));
    return all;
  }
  [[nodiscard]] std::int64_t cache_bytes() const override { return flush_.bytes(); }
  [[nodiscard]] double clock_step() const override { return device_.event_step_seconds; }

 private:
  static constexpr int most_samples = SmClock::most_readings / 2;  // per call

  static std::size_t bytes_of(std::int64_t floats) {
    return static_cast<std::size_t>(floats) * sizeof(float);
  }

  /// Buffers for a copy of this many floats; null if it is short, or if the host cannot pin memory.
  Staging* staging_of(std::int64_t count) {
    constexpr std::int64_t short_copy = 1 << 21;
    if (count < short_copy) return nullptr;
    if (!tried_staging_) {
      tried_staging_ = true;
      try {
        staging_.emplace(stream_);
      } catch (const CudaError& error) {
        if (!error.out_of_memory) throw;
      }
    }
    return staging_ ? &*staging_ : nullptr;
  }

  /// Queues what precedes a sample: a flush, or a launch that brings its operands into the caches.
  void flush_or_warm(const Sampling& sampling, const std::function<void()>& launch) {
    const bool cold = kind_of(sampling.regime).flushes;
    if (cold || sampling.in_place) sampling.poison();
    if (cold) {
      flush_.queue(stream_);
    } else {
      launch();
      if (sampling.in_place) sampling.poison();
    }
  }

  /// A launch on fresh inputs, in a queue like that of a sample.
  void launch_fresh(const Sampling& sampling, const std::function<void()>& launch) {
    const FreshLaunch& fresh = *sampling.fresh;
    // nothing may come between the flush and the launch, or change the previous launch's output
    const bool first = kind_of(sampling.regime).flushes || sampling.in_place;
    if (first) fresh.begin();
    hold_.begin(stream_);
    flush_or_warm(sampling, launch);
    for (int b = 0; b < fresh.position; ++b) launch();
    if (!first) fresh.begin();
    launch();
    fresh.end();
    hold_.release();
    synchronize();
  }

  /// Launches until consecutive half seconds agree. Returns the seconds of a chunk in the last one.
  double settle(BackToBack& busy, const std::function<void()>& launch, Settling& settling) {
    std::vector<double> paces, watts;
    const double start = now();
    do {
      Meter meter(nvml_);
      const auto first = std::ssize(busy.seconds()) + 1;
      for (const double begin = now();
           now() - begin < 0.5 || std::ssize(busy.seconds()) <= first;) {
        busy.feed(launch);
        meter.look();
      }
      paces.push_back(mean_of(std::span(busy.seconds()).subspan(first)));
      watts.push_back(meter.power(1).value_or(Power{}).watts);
      settling = {now() - start,
                  settled(paces, method.settled_pace) && settled(watts, method.settled_power)};
    } while (!settling.settled && settling.seconds < method.settling_seconds);
    return paces.back();
  }

  /// Seconds to read a buffer of the flush's size when L2 has nothing to write back.
  double seconds_of_drain() {
    hold_.begin(stream_);
    flush_.queue(stream_);
    record(0);
    drain_->queue(stream_);
    record(1);
    hold_.release();
    synchronize();
    return seconds_between(0, 1);
  }

  void have_events(int count) {
    while (std::ssize(events_) < count)
      events_.emplace_back(
          std::make_unique<Event>([](cudaEvent_t* e) { check(cudaEventCreate(e)); }));
  }

  void record(std::int64_t event) { check(cudaEventRecord(*events_[event], stream_)); }

  /// Seconds between two events, without the timer's overhead.
  double seconds_between(int begin, int end) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, *events_[begin], *events_[end]));
    return milliseconds * 1e-3 - device_.event_seconds;
  }

  Device device_;
  Nvml nvml_;
  Stream stream_;
  Blas blas_;
  Flush flush_;
  std::unique_ptr<Flush> drain_;  // a second one, of other memory, once it is needed
  SmClock clock_;
  std::vector<std::unique_ptr<Event>> events_;
  Hold hold_;
  bool tried_staging_ = false;
  std::optional<Staging> staging_;
};

}  // namespace

std::unique_ptr<Target> make_gpu_target(const Device& device) {
  return std::make_unique<GpuTarget>(device);
}

}  // namespace recheck
