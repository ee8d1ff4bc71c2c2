// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "../../../reference/host.hpp"
#include "../../../reference/parallel.hpp"
#include "../base/clock.hpp"
#include "../base/mix.hpp"
#include "target.hpp"

namespace recheck {

/// This machine's CPU and memory.
class CpuTarget : public Target {
 public:
  [[nodiscard]] Backend backend() const override { return Backend::cpu; }

  [[nodiscard]] std::int64_t free_bytes() const override { return reference::free_memory(); }

  float* allocate(std::int64_t count) override {
    // the alignment that BLAS and SSE prefer; the size has to be a multiple of it
    const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(float) + 63) / 64 * 64;
    auto* data = static_cast<char*>(std::aligned_alloc(64, bytes + 2 * around));
    if (data == nullptr) throw std::bad_alloc();
    return reinterpret_cast<float*>(data + around);
  }
  void release(float* data) noexcept override { std::free(reinterpret_cast<char*>(data) - around); }

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
    // small arrays stay in one core's cache
    constexpr std::int64_t small = 1 << 23;
    if (count < small)
      std::swap_ranges(a, a + count, b);
    else
      reference::parallel_pieces(1, count, [&](auto, auto begin, auto end) {
        std::swap_ranges(a + begin, a + end, b + begin);
      });
  }
  void queue_copy(float* to, const float* from, std::int64_t count) override {
    copy_in(to, from, count);
  }
  void queue_poison(float* data, std::int64_t count) override { poison(data, count); }
  std::vector<std::uint64_t> digests(std::span<const std::span<const float>> arrays) override {
    std::vector<std::uint64_t> all(arrays.size());
    std::ranges::transform(arrays, all.begin(), digest);
    return all;
  }
  void synchronize() override {}
  void warm_up(const std::function<void()>&) override {}  // the proofs have just run

  Samples sample(const Sampling& sampling, const std::function<void()>& launch) override {
    Samples samples;
    const auto timed = [&] {
      const double start = now();
      launch();
      samples.seconds.push_back(now() - start);
    };
    for (int i = 0; i < sampling.count; ++i) {
      sampling.poison();
      timed();
    }
    if (sampling.fresh != nullptr) {
      sampling.fresh->begin();
      timed();
      sampling.fresh->end();
      // after another row, the first launch finds its operands elsewhere than in the caches
      if (sampling.count > 0) samples.seconds.pop_back();
    }
    return samples;
  }

 private:
  // Unused address space before and after an array, which takes no memory until it is touched. A
  // row that writes outside, which the guards detect, then corrupts no heap data of other rows. The
  // address sanitizer has its own red zones.
#ifdef __SANITIZE_ADDRESS__
  static constexpr std::size_t around = 0;
#else
  static constexpr std::size_t around = 1 << 20;
#endif
};

}  // namespace recheck
