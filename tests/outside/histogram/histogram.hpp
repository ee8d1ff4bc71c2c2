// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <recheck.hpp>

namespace histogram {

/// counts[v] is how many of `count` bytes are v, of 256 values.
struct Args {
  const unsigned char* in;
  std::int64_t count;
  unsigned* counts;
};
inline Args arguments(const recheck::Call& call) {
  return {call.as<const unsigned char>(0), call.shape[0], call.as<unsigned>(1)};
}

/// One histogram for all in global memory; one for each block in shared memory; one for each thread
/// in shared memory, with counters of 8 bits that are added up before they overflow.
enum class Counters { per_grid, per_block, per_thread };
template <Counters where>
void count(const Args& args, cudaStream_t stream);

/// The article's problem, solved by its own rows or by others.
recheck::Experiment experiment(std::span<const recheck::Strategy> others = {});

}  // namespace histogram
