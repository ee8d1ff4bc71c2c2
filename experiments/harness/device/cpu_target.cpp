// SPDX-License-Identifier: Apache-2.0
#include "cpu_target.hpp"

#include <atomic>
#include <bit>

namespace recheck {

std::unique_ptr<Target> make_cpu_target() { return std::make_unique<CpuTarget>(); }

std::uint64_t digest(std::span<const float> on_the_host) {
  std::atomic<std::uint64_t> sum = 0;
  reference::parallel_pieces(1, std::ssize(on_the_host), [&](auto, auto begin, auto end) {
    std::uint64_t own = 0;
    for (auto i = begin; i < end; ++i) own += mix(std::bit_cast<std::uint32_t>(on_the_host[i]), i);
    sum += own;
  });
  return sum;
}

}  // namespace recheck
