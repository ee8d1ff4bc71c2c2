// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string>

#include "ledger.hpp"
#include "target.hpp"

namespace recheck {
namespace {

class CpuTarget final : public Target {
 public:
  [[nodiscard]] Backend backend() const override { return Backend::cpu; }

  [[nodiscard]] std::int64_t free_bytes() const override {
    // what the kernel would find by giving up caches, which "free" pages leave out
    std::ifstream in("/proc/meminfo");
    for (std::string key; in >> key; in.ignore(256, '\n'))
      if (std::int64_t kilobytes = 0; key == "MemAvailable:" && in >> kilobytes)
        return 1024 * kilobytes;
    return static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  }

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
  void synchronize() override {}
  void warm_up(const std::function<void()>&) override {}  // the proofs have just run

  Samples sample(const Sampling& sampling, const std::function<void()>& launch) override {
    Samples samples;
    for (int i = 0; i < sampling.count; ++i) {
      const double start = now();
      launch();
      samples.seconds.push_back(now() - start);
    }
    return samples;
  }
  std::optional<Power> draw(const std::function<void()>&, double) override { return {}; }
};

}  // namespace

std::unique_ptr<Target> make_cpu_target() { return std::make_unique<CpuTarget>(); }

}  // namespace recheck
