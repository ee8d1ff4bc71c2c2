// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "../machine/machine.hpp"

namespace recheck::kernels::memory {

/// What a probe works on: `count` words to read, in one piece, and where its result goes.
using machine::ProbeArgs;

// Launchers put their work on a stream and return; they allocate nothing and keep no state. Errors
// are the caller's to read (cudaGetLastError).

// A chase: one thread reads the first word of a line of 128 bytes, then of another, so many times,
// and no address is known before the last word has arrived. It begins with line 0; after line i
// comes (chase_factor · i + chase_increment) mod chase_lines(count), so that every line has had its
// turn before one has another. out[0] is what `fold = fold · chase_fold + word` makes of the words
// in this order, from 0 and modulo 2^32; out[1] is the line that would be next. count > 0.
inline constexpr std::uint32_t chase_factor = 1664525, chase_increment = 1013904223;
inline constexpr std::uint32_t chase_fold = 0x9e3779b1;
inline constexpr int line_words = 32;

/// Lines of so many words that a chase knows: the largest power of two of whole ones, but 1 at
/// least.
constexpr std::uint32_t chase_lines(std::int64_t count) {
  return count < line_words ? 1 : std::bit_floor(static_cast<std::uint32_t>(count / line_words));
}

/// near_steps words from shared memory, where the block has put all `count`; from global memory by
/// way of the L1 cache, where it has read these lines before; from constant memory, of at most
/// constant_words, where a copy has put them first. latency.cu
///
/// Of constant memory there is one for each device: a launch on another stream than the one before
/// waits for the device, on the host. Graphs with it must not run at once.
void latency_shared(const ProbeArgs& args, cudaStream_t stream);
void latency_l1(const ProbeArgs& args, cudaStream_t stream);
void latency_constant(const ProbeArgs& args, cudaStream_t stream);
inline constexpr int near_steps = 65536;
inline constexpr int constant_words = 16384;  // all of its 64 KB

/// far_steps words from global memory, past the L1 caches. latency.cu
void latency_far(const ProbeArgs& args, cudaStream_t stream);
inline constexpr int far_steps = 8192;

// Passes: all words are read so many times in one launch, a pass by one warp, by as many blocks as
// the multiprocessors hold at once. The exclusive or of out, fold_partials words, is that of the
// fold of all words, rotated left by 0, by 1, … for one pass after another. It is the same again
// after 64 passes: this many are not taken for one or for none.
inline constexpr int passes = 1'000'003;

/// From shared memory, where each block has put all words first; from global memory by way of the
/// L1 caches. bandwidth.cu
void bandwidth_shared(const ProbeArgs& args, cudaStream_t stream);
void bandwidth_l1(const ProbeArgs& args, cudaStream_t stream);

/// As many passes in which all lanes of a warp read the same word at a time: from shared memory,
/// where each block has put all words first; by way of the L1 caches; from constant memory, as
/// latency_constant. count > 0. uniform.cu
void uniform_shared(const ProbeArgs& args, cudaStream_t stream);
void uniform_l1(const ProbeArgs& args, cudaStream_t stream);
void uniform_constant(const ProbeArgs& args, cudaStream_t stream);

/// To shared memory: as many passes, a pass by one block, which writes i / 4 + 1 and the number of
/// the pass into word i. A word of out for each block is the fold of what its last pass has left,
/// less that number, word i rotated left by i mod 4: the same for every block, and 0 behind the
/// last. write.cu
void write_shared(const ProbeArgs& args, cudaStream_t stream);

/// Bytes of shared memory that a block of these three needs: for the words, by 16 bytes, and at
/// most so many more to fold in.
constexpr std::int64_t staged_bytes(std::int64_t count) { return (count + 3) / 4 * 16; }
inline constexpr std::int64_t folding_bytes = 32;

}  // namespace recheck::kernels::memory
