// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "host.hpp"

namespace recheck::reference {

/// Calls body(i) for each i in [0, count), on all CPUs that it may use. The body must not throw,
/// and calls for different i must not touch the same data. Used by oracles and inputs, never inside
/// a timed region.
template <typename Body>
void parallel_for(std::int64_t count, Body body) {
  // a few chunks per thread: even out their ends without a queue
  static const std::int64_t threads = usable_cpus();
  const std::int64_t chunk = std::max<std::int64_t>(1, count / (threads * 8));
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    for (std::int64_t begin = next.fetch_add(chunk); begin < count; begin = next.fetch_add(chunk))
      for (std::int64_t i = begin; i < std::min(begin + chunk, count); ++i) body(i);
  };
  std::vector<std::jthread> helpers;
  for (std::int64_t t = 1; t < std::min(threads, count); ++t) helpers.emplace_back(work);
  work();
}

/// Calls body(row, begin, end) for pieces of all rows, from column `begin` to before `end`, as
/// parallel_for() does. A vector is one long row.
template <typename Body>
void parallel_pieces(std::int64_t rows, std::int64_t columns, Body body) {
  constexpr std::int64_t length = 1 << 16;
  const std::int64_t pieces = (columns + length - 1) / length;
  parallel_for(rows * pieces, [&](std::int64_t i) {
    const std::int64_t begin = i % pieces * length;
    body(i / pieces, begin, std::min(begin + length, columns));
  });
}

}  // namespace recheck::reference
