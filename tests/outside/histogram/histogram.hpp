// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <recheck.hpp>

namespace histogram {

/// counts[v], for each of the 256 values v, is the number of bytes equal to v.
struct Args {
  const unsigned char* in;
  std::int64_t count;
  unsigned* counts;
};
inline Args arguments(const recheck::Call& call) {
  return {call.as<const unsigned char>(0), call.shape[0], call.as<unsigned>(1)};
}

/// One histogram for the whole grid in global memory; one per block in shared memory; or one per
/// thread in shared memory, with 8-bit counters that are added up before they overflow.
enum class Counters { per_grid, per_block, per_thread };
template <Counters where>
void count(const Args& args, cudaStream_t stream);

/// The article's problem, solved by its own rows or by other ones.
recheck::Experiment experiment(std::span<const recheck::Strategy> others = {});

}  // namespace histogram
