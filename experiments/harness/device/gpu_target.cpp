// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "../base/clock.hpp"
#include "../base/statistics.hpp"
#include "../table/method.hpp"
#include "back_to_back.hpp"
#include "cuda.hpp"
#include "device_kernels.hpp"
#include "hold.hpp"
#include "meter.hpp"
#include "nvml.hpp"
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
        flush_bytes_(std::max(method.flush_l2_sizes * device.l2_bytes, method.flush_least_bytes)),
        flush_(zeros()),
        scratch_(*this, clock_floats + 1) {
    cublasSetStream(blas_, stream_);
  }

  [[nodiscard]] Backend backend() const override { return Backend::gpu; }
  [[nodiscard]] kernels::Queue queue() const override { return {stream_, blas_}; }

  [[nodiscard]] std::int64_t free_bytes() const override { return free_memory(); }
  float* allocate(std::int64_t count) override {
    float* data = nullptr;
    const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
    const auto code = cudaMalloc(&data, bytes);
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw DeviceError(
          not_enough_memory("GPU", static_cast<double>(bytes), static_cast<double>(free_memory())),
          true);
    }
    check(code);
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
  void load(float* to, const float* from, std::int64_t count) override {
    if (Staging* staging = staging_of(count))
      staging->copy_in(to, from, static_cast<std::size_t>(count) * sizeof(float));
    else
      copy_in(to, from, count);
  }
  void save(float* to, const float* from, std::int64_t count) override {
    if (Staging* staging = staging_of(count))
      staging->copy_out(to, from, static_cast<std::size_t>(count) * sizeof(float));
    else
      copy_out(to, from, count);
  }
  void poison(float* data, std::int64_t count) override {
    check(cudaMemsetAsync(data, 0xff, static_cast<std::size_t>(count) * sizeof(float), stream_));
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
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(float),
                          cudaMemcpyDeviceToDevice, stream_));
  }
  void queue_poison(float* data, std::int64_t count) override {
    check(cudaMemsetAsync(data, 0xff, static_cast<std::size_t>(count) * sizeof(float), stream_));
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

  void show(const std::string& name, const std::function<void()>& launch) override {
    check(cudaProfilerStart());
    const NamedRange range(name);
    launch();
    synchronize();
    check(cudaProfilerStop());
  }

  Samples sample(const Sampling& sampling, const std::function<void()>& launch) override {
    const auto& [regime, wanted, batch, guess, fresh, poison, in_place] = sampling;
    const int count = std::min(wanted, most_samples);
    const bool drained = kind_of(regime).drains, cold = kind_of(regime).flushes;
    have_events(2 * count);
    clear_readings(2 * count);
    if (drained && !drain_) drain_ = std::make_unique<Array>(zeros());
    const auto get_ready = [&] {
      hold_.begin(stream_);
      if (cold || in_place) poison();
      if (cold) {
        read_through(flush_);
      } else {
        launch();
        if (in_place) poison();
      }
    };
    std::vector<double> drains;
    static_assert(method.queued_samples == 1);
    // The device starts a sample only when all of it is queued, so no launch waits for the host.
    // Only one sample is queued at a time: with several, the device fetches some commands within
    // the interval, which takes 0.5 to 0.7 us on some hosts and nothing on others (H200).
    for (int i = 0; i < count; ++i) {
      get_ready();
      read_clocks(readings(2 * i), device_.sm_count, stream_);
      check(cudaEventRecord(*events_[2 * i], stream_));
      for (int b = 0; b < batch; ++b) launch();
      if (drained) read_through(*drain_);
      check(cudaEventRecord(*events_[2 * i + 1], stream_));
      read_clocks(readings(2 * i + 1), device_.sm_count, stream_);
      hold_.release();
      synchronize();
      if (drained) drains.push_back(seconds_of_drain());
    }
    if (fresh != nullptr) {
      // nothing may come between the flush and the launch, or change the previous launch's output
      const bool first = cold || in_place;
      if (first) fresh->begin();
      get_ready();
      for (int b = 0; b < fresh->position; ++b) launch();
      if (!first) fresh->begin();
      launch();
      fresh->end();
      hold_.release();
      synchronize();
    }

    Samples samples;
    if (count > 0) samples.clock_hz = clocks_between(2 * count);
    // the median: one disturbed drain must not make a launch look fast
    const double drain = drains.empty() ? 0 : middle(drains);
    for (int i = 0; i < count; ++i)
      samples.seconds.push_back(std::max(seconds_between(2 * i, 2 * i + 1) / batch - drain,
                                         drained ? device_.event_step_seconds : 0));
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
    clear_readings(2 * sustained_windows);
    if (restore) have_events(static_cast<int>(2 * (end - first)));
    const auto mark = [&](std::int64_t chunk, bool begins) {
      const auto at = chunk - first;
      // a chunk's time includes its restores, so one extra launch is timed separately
      if (restore && begins && chunk < end) {
        restore();
        check(cudaEventRecord(*events_[2 * at], stream_));
        once();
        check(cudaEventRecord(*events_[2 * at + 1], stream_));
      }
      if (chunk < end && at % chunks == (begins ? 0 : chunks - 1))
        read_clocks(readings(static_cast<int>(2 * (at / chunks)) + (begins ? 0 : 1)),
                    device_.sm_count, stream_);
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
    all.clock_hz = clocks_between(2 * sustained_windows);
    all.power = meter.power(mean_of(all.seconds));
    return all;
  }
  [[nodiscard]] std::int64_t cache_bytes() const override { return flush_bytes_; }
  [[nodiscard]] double clock_step() const override { return device_.event_step_seconds; }

 private:
  static constexpr int most_samples = 32;  // per call
  static constexpr int drain_events = 2 * most_samples;
  static constexpr std::int64_t clock_floats =
      2 * most_samples * clock_slots *
      static_cast<std::int64_t>(sizeof(ClockReading) / sizeof(float));

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

  /// Where the i-th reading of all multiprocessors' clocks is stored.
  ClockReading* readings(int i) {
    return reinterpret_cast<ClockReading*>(scratch_.data()) + i * clock_slots;
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

  /// As many zeros as a flush reads.
  Array zeros() {
    Array array(*this, flush_bytes_ / static_cast<std::int64_t>(sizeof(float)));
    check(cudaMemset(array.data(), 0, flush_bytes_));
    return array;
  }
  /// Queues a kernel that reads an array of zeros. L2 then holds nothing else, and its earlier
  /// contents are written back to DRAM.
  void read_through(const Array& array) {
    flush_l2(reinterpret_cast<const float4*>(array.data()), flush_bytes_,
             scratch_.data() + clock_floats, stream_);
  }
  /// Seconds to read an array when L2 has nothing to write back.
  double seconds_of_drain() {
    have_events(drain_events + 2);
    hold_.begin(stream_);
    read_through(flush_);
    check(cudaEventRecord(*events_[drain_events], stream_));
    read_through(*drain_);
    check(cudaEventRecord(*events_[drain_events + 1], stream_));
    hold_.release();
    synchronize();
    return seconds_between(drain_events, drain_events + 1);
  }

  void have_events(int count) {
    while (std::ssize(events_) < count)
      events_.emplace_back(
          std::make_unique<Event>([](cudaEvent_t* e) { check(cudaEventCreate(e)); }));
  }

  void clear_readings(int count) {
    check(cudaMemsetAsync(readings(0), 0, count * clock_slots * sizeof(ClockReading), stream_));
  }

  /// Seconds between two events, without the timer's overhead.
  double seconds_between(int begin, int end) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, *events_[begin], *events_[end]));
    return milliseconds * 1e-3 - device_.event_seconds;
  }

  /// The clock between each even reading and the next odd one, in cycles per time, on a
  /// multiprocessor that both readings contain; otherwise 0.
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
        if (begin.nanoseconds == 0 || end.nanoseconds <= begin.nanoseconds) continue;
        clock = 1e9 * static_cast<double>(end.cycles - begin.cycles) /
                static_cast<double>(end.nanoseconds - begin.nanoseconds);
      }
      clocks.push_back(clock);
    }
    return clocks;
  }

  Device device_;
  Nvml nvml_;
  Stream stream_;
  Blas blas_;
  std::int64_t flush_bytes_;
  Array flush_;
  std::unique_ptr<Array> drain_;  // a second buffer as large, once it is needed
  Array scratch_;                 // clock readings, and flush_l2's sink
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
