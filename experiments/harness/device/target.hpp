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

/// A launch behind the samples that finds fresh inputs and a poisoned output: a row that keeps
/// results, or computes less where it is timed, leaves a wrong output there. Both functions queue
/// what they do.
struct FreshLaunch {
  int position;                 // how many launches the queue holds in front of it
  std::function<void()> begin;  // keeps what the last sample has left, and exchanges the inputs
  std::function<void()> end;    // puts the inputs back
};

/// How samples are to be taken.
struct Sampling {
  Regime regime;
  int count;
  int batch;     // launches per sample; only hot ones may be more than one
  double guess;  // about what a launch takes, in seconds
  const FreshLaunch* fresh = nullptr;
  // queued before each sample that is cold, or the CPU's, where anything is to be proven by them:
  // none finds the output of the one before
  std::function<void()> poison = [] {};
  // whether that has to come before every launch: each changes what it reads
  bool in_place = false;
};

/// Timings of a launch: each is one sample, in seconds, divided by its batch.
struct Samples {
  std::vector<double> seconds;
  std::vector<double> clock_hz;  // held during each, 0 where it is not known; empty on a CPU
};

/// What launches back to back draw.
struct Power {
  double watts, joules;               // on average; per launch
  double seconds;                     // length of the window
  double temperature_c;               // at its end
  std::vector<std::string> throttle;  // reasons in its course, as NVML names them
};

/// How many windows a sustained time has.
inline constexpr int sustained_windows = 10;

/// What a sustained time began from.
struct Settling {
  double seconds = 0;   // of launches before it
  bool settled = true;  // whether pace and power had come to rest by then
};

/// Launches back to back over seconds, by windows of equal length.
struct Sustained {
  std::vector<double> seconds, clock_hz;  // of a launch; held meanwhile, empty on a CPU
  std::optional<Power> power = {};        // in the course of all windows
  Settling settling = {};
};

/// Where a strategy runs and its operands live: this CPU, or one CUDA device. Every call that can
/// fail throws; a failed launch surfaces in synchronize() or sample() at the latest.
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
  virtual void copy_in(float* to, const float* from, std::int64_t count) = 0;
  virtual void copy_out(float* to, const float* from, std::int64_t count) = 0;
  /// Sets every bit of the memory (a NaN), and spoils scratch memory that a launch might read
  /// unset.
  virtual void poison(float* data, std::int64_t count) = 0;
  // what a FreshLaunch is made of, in the order of launches: the host does not wait
  virtual void queue_exchange(float* a, float* b, std::int64_t count) = 0;
  virtual void queue_copy(float* to, const float* from, std::int64_t count) = 0;
  virtual void queue_poison(float* data, std::int64_t count) = 0;
  /// The digests of arrays, as mix.hpp has them.
  virtual std::vector<std::uint64_t> digests(std::span<const std::span<const float>> arrays) = 0;
  /// Waits, and throws what the launches since the last call have left behind.
  virtual void synchronize() = 0;
  /// Keeps the device busy with `launch` until its clock has risen.
  virtual void warm_up(const std::function<void()>& launch) = 0;
  /// Runs `launch` once where a profiler that waits for its turn sees it, and a mark behind it.
  virtual void show(const std::function<void()>& launch) { launch(); }
  virtual Samples sample(const Sampling& sampling, const std::function<void()>& launch) = 0;
  /// Runs `launch`, which takes about `guess` seconds, over and over until pace and power have
  /// settled, or for as long as method.hpp allows, and measures it then. On a CPU its pace alone.
  /// `restore`, if it is anything, comes before each launch and is not measured.
  virtual Sustained sustain(const std::function<void()>& launch, double guess,
                            const std::function<void()>& restore = {}) {
    Sampling sampling{Regime::hot, sustained_windows, 1, guess};
    if (restore) sampling.poison = restore;
    return {sample(sampling, launch).seconds, {}};
  }
  /// The step of the clock that times launches, seconds; 0 if it is too small to matter.
  [[nodiscard]] virtual double clock_step() const { return 0; }
  /// Bytes of inputs beyond which a launch finds nothing in a cache of what one took before.
  [[nodiscard]] virtual std::int64_t cache_bytes() const { return 0; }
};

/// `count` floats on a target, given back when they go out of scope.
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

/// The first CUDA device, or why there is none to use.
struct Gpu {
  std::optional<Device> device;
  Reason reason;  // why `device` is empty
  // versions, such as "13.0" and "13.1.1"; empty where unknown
  std::string driver, runtime, cublas = {};
};
Gpu find_gpu();

/// A target on the device that find_gpu() found.
std::unique_ptr<Target> make_gpu_target(const Device& device);

/// What this machine's rows run on, each target made when it is first asked for.
class Targets {
 public:
  explicit Targets(Gpu gpu) : gpu_(std::move(gpu)) {}
  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  /// What a row with this backend runs on; a GPU has to be there for one that needs it.
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

/// When a first call began, had a CUDA context, and ended; seconds of now().
struct FirstCall {
  double begin = 0, context = 0, end = 0;
};

/// Creates a context, allocates, copies in, launches, copies out and frees. `copied` gets each
/// output at its place. Where the row takes a queue and no workspace, a cuBLAS handle is created,
/// too. This process may not have used CUDA before. Throws what CUDA reports.
FirstCall first_call(const Strategy& strategy, const Shape& shape,
                     std::span<const HostMatrix> inputs, std::span<const Placed> outputs,
                     std::span<float> copied);

}  // namespace recheck
