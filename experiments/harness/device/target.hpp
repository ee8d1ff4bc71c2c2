// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../table/placed.hpp"
#include "../table/strategy.hpp"

namespace recheck {

/// One extra launch after the samples, on unseen inputs and a poisoned output: it exposes cached
/// results and work skipped while timed. Both functions only queue work.
struct FreshLaunch {
  int position;                 // launches queued before it
  std::function<void()> begin;  // saves the last sample's output and swaps the inputs
  std::function<void()> end;    // swaps the inputs back
};

/// How samples are to be taken.
struct Sampling {
  Regime regime;
  int count;
  int batch;     // launches per sample; more than one only if hot
  double guess;  // estimated seconds of a launch
  const FreshLaunch* fresh = nullptr;
  // Queued before each sample, if it is cold or on the CPU and is to be checked, so that no launch
  // finds the previous output.
  std::function<void()> poison = [] {};
  // whether it has to come before every launch, because each one changes its own inputs
  bool in_place = false;
};

/// Timings of a launch: one value per sample, in seconds, divided by the batch.
struct Samples {
  std::vector<double> seconds;
  std::vector<double> clock_hz;  // during each sample, 0 if unknown; empty on a CPU
};

/// Power draw of launches back to back.
struct Power {
  double watts, joules;               // on average; per launch
  double seconds;                     // length of the window
  double temperature_c;               // at its end
  std::vector<std::string> throttle;  // throttle reasons during the window, as NVML names them
};

/// Number of windows of a sustained time.
inline constexpr int sustained_windows = 10;

/// The warm-up before a sustained time.
struct Settling {
  double seconds = 0;   // of launches before it
  bool settled = true;  // whether pace and power had settled by its end
};

/// Launches back to back over seconds, in windows of equal length.
struct Sustained {
  std::vector<double> seconds, clock_hz;  // of a launch, per window; clocks empty on a CPU
  std::optional<Power> power = {};        // over all windows
  Settling settling = {};
};

/// Where a strategy runs and its operands live: this CPU, or one CUDA device. Every call that can
/// fail throws. A failed launch surfaces in synchronize() or sample() at the latest.
class Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;

  [[nodiscard]] virtual Backend backend() const = 0;
  [[nodiscard]] virtual kernels::Queue queue() const { return {}; }
  /// Bytes that can be allocated now.
  [[nodiscard]] virtual std::int64_t free_bytes() const = 0;
  /// `count` floats; throws OutOfMemory.
  virtual float* allocate(std::int64_t count) = 0;
  virtual void release(float* data) noexcept = 0;
  /// As a program copies from and to its own memory: this is timed end to end.
  virtual void copy_in(float* to, const float* from, std::int64_t count) = 0;
  virtual void copy_out(float* to, const float* from, std::int64_t count) = 0;
  /// The quickest way, for all other copies.
  virtual void load(float* to, const float* from, std::int64_t count) { copy_in(to, from, count); }
  virtual void save(float* to, const float* from, std::int64_t count) { copy_out(to, from, count); }
  /// Sets every bit of the memory, which makes each float a NaN, and spoils scratch memory that a
  /// launch might read before writing it.
  virtual void poison(float* data, std::int64_t count) = 0;
  // the parts of a FreshLaunch, in the order of launches; the host does not wait
  virtual void queue_exchange(float* a, float* b, std::int64_t count) = 0;
  virtual void queue_copy(float* to, const float* from, std::int64_t count) = 0;
  virtual void queue_poison(float* data, std::int64_t count) = 0;
  /// The digests (mix.hpp) of arrays.
  virtual std::vector<std::uint64_t> digests(std::span<const std::span<const float>> arrays) = 0;
  /// Waits, and throws errors of the launches since the last call.
  virtual void synchronize() = 0;
  /// Keeps the device busy with `launch` until its clock has risen.
  virtual void warm_up(const std::function<void()>& launch) = 0;
  /// Runs `launch` once between the start and stop of the profiler, in an NVTX range of this name.
  virtual void show(const std::string& /*name*/, const std::function<void()>& launch) { launch(); }
  virtual Samples sample(const Sampling& sampling, const std::function<void()>& launch) = 0;
  /// Repeats `launch`, which takes about `guess` seconds, until pace and power have settled or the
  /// time in method.hpp is over, and then measures it; on a CPU, only its pace counts. `restore`,
  /// if set, precedes each launch and is not measured.
  virtual Sustained sustain(const std::function<void()>& launch, double guess,
                            const std::function<void()>& restore = {}) {
    Sampling sampling{Regime::hot, sustained_windows, 1, guess};
    if (restore) sampling.poison = restore;
    return {sample(sampling, launch).seconds, {}};
  }
  /// The step of the clock that times launches, in seconds; 0 if negligible.
  [[nodiscard]] virtual double clock_step() const { return 0; }
  /// Bytes of inputs beyond which a launch finds nothing of an earlier one in a cache.
  [[nodiscard]] virtual std::int64_t cache_bytes() const { return 0; }
};

/// Owns `count` floats on a target.
class Array {
 public:
  Array(Target& target, std::int64_t count) : target_(&target), data_(target.allocate(count)) {}
  Array(Array&& other) noexcept
      : target_(other.target_), data_(std::exchange(other.data_, nullptr)) {}
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  Array& operator=(Array&&) = delete;
  ~Array() {
    if (data_ != nullptr) target_->release(data_);
  }
  [[nodiscard]] float* data() const { return data_; }

 private:
  Target* target_;
  float* data_;
};

/// This machine's CPU and memory.
std::unique_ptr<Target> make_cpu_target();

/// The first CUDA device, or why none can be used.
struct Gpu {
  std::optional<Device> device;
  Reason reason;  // why `device` is empty
  // versions, such as "13.0" and "13.1.1"; empty where unknown
  std::string driver, runtime, cublas = {};
};
Gpu find_gpu();

/// A target on the device that find_gpu() found.
std::unique_ptr<Target> make_gpu_target(const Device& device);

/// The targets of this machine's rows, each created at first use.
class Targets {
 public:
  explicit Targets(Gpu gpu) : gpu_(std::move(gpu)) {}
  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  /// The target of rows with this backend; a GPU must be present for one that needs it.
  Target& of(Backend backend) {
    auto& target = backend == Backend::cpu ? cpu_target_ : gpu_target_;
    if (!target)
      target = backend == Backend::cpu ? make_cpu_target()
                                       : make_gpu_target(gpu_.device.value_or(Device{}));
    return *target;
  }

 private:
  Gpu gpu_;
  std::unique_ptr<Target> cpu_target_, gpu_target_;
};

/// When a first call started, had a CUDA context, and ended; seconds of now().
struct FirstCall {
  double begin = 0, context = 0, end = 0;
};

/// Creates a context, allocates, copies in, launches, copies out and frees. Creates a cuBLAS handle
/// as well if the row takes a queue but no workspace. `copied` gets each output at its place. This
/// process must not have used CUDA before. Throws what CUDA reports.
FirstCall first_call(const Strategy& strategy, const Shape& shape,
                     std::span<const HostMatrix> inputs, std::span<const Placed> outputs,
                     std::span<float> copied);

}  // namespace recheck
