// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <new>

#include "../../reference/host.hpp"
#include "../../reference/parallel.hpp"
#include "ledger.hpp"
#include "mix.hpp"
#include "target.hpp"

#ifdef __SSE__
#include <xmmintrin.h>
#endif

// null in a program without OpenMP: rows have it, the harness has not
extern "C" {
[[gnu::weak]] int omp_get_max_threads();      // NOLINT(readability-identifier-naming)
[[gnu::weak]] void omp_set_num_threads(int);  // NOLINT(readability-identifier-naming)
}

namespace recheck {
namespace {

/// Calls body(begin, end) for the parts of an array, on all cores.
template <typename Body>
void in_parts(std::int64_t count, Body body) {
  constexpr std::int64_t part = 1 << 16;
  reference::parallel_for((count + part - 1) / part,
                          [&](std::int64_t p) { body(p * part, std::min(count, (p + 1) * part)); });
}

class CpuTarget final : public Target {
 public:
  CpuTarget() { sched_getaffinity(0, sizeof cpus_, &cpus_); }
  [[nodiscard]] Backend backend() const override { return Backend::cpu; }

  [[nodiscard]] std::int64_t free_bytes() const override { return reference::free_memory(); }

  float* allocate(std::int64_t count) override {
    // aligned as BLAS and SSE like it; the size has to be a multiple of the alignment
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(float) + 63) / 64 * 64;
    auto* data = static_cast<float*>(std::aligned_alloc(64, bytes));
    if (data == nullptr) throw std::bad_alloc();
    return data;
  }
  void release(float* data) noexcept override { std::free(data); }

  void copy_in(float* to, const float* from, std::int64_t count) override {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
  }
  void copy_out(float* to, const float* from, std::int64_t count) override {
    copy_in(to, from, count);
  }
  void poison(float* data, std::int64_t count) override {
    std::memset(data, 0xff, static_cast<std::size_t>(count) * sizeof(float));
  }
  void queue_exchange(float* a, float* b, std::int64_t count) override {
    const auto exchange = [&](std::int64_t begin, std::int64_t end) {
      std::swap_ranges(a + begin, a + end, b + begin);
    };
    // small ones stay in one core's cache
    constexpr std::int64_t small = 1 << 23;
    if (count < small)
      exchange(0, count);
    else
      in_parts(count, exchange);
  }
  void queue_hide(float* data, std::int64_t count, std::uint64_t key) override {
    in_parts(count, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i)
        data[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(data[i]) ^ hiding(key, i));
    });
  }
  void queue_copy(float* to, const float* from, std::int64_t count) override {
    copy_in(to, from, count);
  }
  void queue_poison(float* data, std::int64_t count) override { poison(data, count); }
  void queue_read(const float*, std::int64_t) override {}  // they have just been written

  [[nodiscard]] std::vector<Setting> settings() const override {
    std::vector<Setting> all = {{rounding, std::fegetround()}};
#ifdef __SSE__
    all.push_back({subnormals, _mm_getcsr() & flush_bits});
#endif
    if (omp_get_max_threads != nullptr) all.push_back({openmp_threads, omp_get_max_threads()});
#ifdef __GLIBC__
    all.push_back({exceptions, fegetexcept()});
#endif
    if (cpu_set_t cpus; !binds_ && sched_getaffinity(0, sizeof cpus, &cpus) == 0) {
      std::uint64_t mask = 0;
      for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &cpus)) mask ^= std::uint64_t{1} << cpu % 64;
      all.push_back({allowed_cpus, static_cast<std::int64_t>(mask)});
    }
    return all;
  }
  void restore(std::span<const Setting> settings) override {
    for (const auto& [name, value] : settings) {
      if (name == rounding) std::fesetround(static_cast<int>(value));
#ifdef __SSE__
      if (name == subnormals)
        _mm_setcsr((_mm_getcsr() & ~flush_bits) | static_cast<unsigned>(value));
#endif
#ifdef __GLIBC__
      if (name == exceptions) {
        fedisableexcept(FE_ALL_EXCEPT);
        feenableexcept(static_cast<int>(value));
      }
#endif
      if (name == openmp_threads) omp_set_num_threads(static_cast<int>(value));
      if (name == allowed_cpus) sched_setaffinity(0, sizeof cpus_, &cpus_);
    }
  }

  std::vector<std::uint64_t> digests(std::span<const std::span<const float>> arrays) override {
    std::vector<std::uint64_t> all(arrays.size());
    std::ranges::transform(arrays, all.begin(), digest);
    return all;
  }
  void synchronize() override {}
  void warm_up(const std::function<void()>&) override {}  // the proofs have just run

  Samples sample(const Sampling& sampling, const std::function<void()>& launch) override {
    // what moves the inputs leaves them in other caches than a row's threads had them in: of a
    // launch this long it makes no difference
    constexpr double too_long_for_caches = 20e-3;
    const auto* surprise = sampling.surprise;
    const long before = preemptions();
    const auto seconds = [&] {
      sampling.poison();
      const double start = now();
      launch();
      return now() - start;
    };
    Samples samples;
    for (int i = 0; i < sampling.count; ++i) samples.seconds.push_back(seconds());
    if (surprise != nullptr) {
      const bool long_one = sampling.guess >= too_long_for_caches;
      surprise->keep();
      if (!long_one) {
        surprise->move();
        samples.moved = seconds();
      }
      surprise->before();
      if (!long_one) samples.surprised = seconds();
      surprise->reveal();
      (long_one ? samples.surprised : samples.changed) = seconds();
      surprise->after();
    }
    samples.disturbed = preemptions() != before;
    return samples;
  }
  std::optional<Power> draw(const std::function<void()>&, double) override { return {}; }

 private:
  static constexpr std::string_view rounding = "rounding mode", subnormals = "flushing to zero",
                                    exceptions = "floating-point exceptions that trap";
  static constexpr unsigned flush_bits = 0x8040;  // of subnormal results and operands
  cpu_set_t cpus_{};                              // that it may run on
  // who asks OpenMP to bind threads has it bind this one too
  bool binds_ = std::getenv("OMP_PROC_BIND") != nullptr || std::getenv("OMP_PLACES") != nullptr ||
                std::getenv("GOMP_CPU_AFFINITY") != nullptr ||
                std::getenv("KMP_AFFINITY") != nullptr;
};

}  // namespace

std::unique_ptr<Target> make_cpu_target() { return std::make_unique<CpuTarget>(); }

std::uint64_t digest(std::span<const float> on_the_host) {
  std::atomic<std::uint64_t> sum = 0;
  in_parts(std::ssize(on_the_host), [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t own = 0;
    for (auto i = begin; i < end; ++i) own += mix(std::bit_cast<std::uint32_t>(on_the_host[i]), i);
    sum += own;
  });
  return sum;
}

}  // namespace recheck
