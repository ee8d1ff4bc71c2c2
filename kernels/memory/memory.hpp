// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "../machine/machine.hpp"

namespace recheck::kernels::memory {

/// A probe's arguments: `count` contiguous words to read, and where its result goes.
using machine::ProbeArgs;

// Launchers queue their work on a stream and return; they allocate nothing and keep no state. The
// caller reads errors (cudaGetLastError).

// A pointer chase: one thread reads the first word of a line of 128 bytes, then of another, for a
// fixed number of steps. No address is known before the previous word has arrived. It begins with
// line 0. Line i is followed by line (chase_factor · i + chase_increment) mod chase_lines(count),
// which visits every line before it repeats one. out[0] is the result of `fold = fold · chase_fold
// + word` over the words in this order, from 0 and modulo 2^32; out[1] is the line that would be
// next. count > 0.
inline constexpr std::uint32_t chase_factor = 1664525, chase_increment = 1013904223;
inline constexpr std::uint32_t chase_fold = 0x9e3779b1;
inline constexpr int line_words = 32;

/// The lines of a chase over that many words: the largest power of two that fits, but at least 1.
constexpr std::uint32_t chase_lines(std::int64_t count) {
  return count < line_words ? 1 : std::bit_floor(static_cast<std::uint32_t>(count / line_words));
}

/// near_steps words from shared memory, where the block has put all `count`; from global memory
/// through the L1 cache, where it has read these lines before; from constant memory, of at most
/// constant_words, where a copy has put them first. latency.cu
///
/// Each device has only one constant memory: a launch on a different stream waits on the host for
/// the device. Graphs with it must not run at once.
void latency_shared(const ProbeArgs& args, cudaStream_t stream);
void latency_l1(const ProbeArgs& args, cudaStream_t stream);
void latency_constant(const ProbeArgs& args, cudaStream_t stream);
inline constexpr int near_steps = 65536;
inline constexpr int constant_words = 16384;  // all of its 64 KB

/// far_steps words from global memory, bypassing the L1 caches. latency.cu
void latency_far(const ProbeArgs& args, cudaStream_t stream);
inline constexpr int far_steps = 8192;

// The number of times that one launch reads all words. One warp does a pass, in as many blocks as
// the multiprocessors hold at once. The exclusive or of out, fold_partials words, is that of the
// fold of all words, rotated left by 0, by 1, … for one pass after another. It repeats every 64
// passes; this number cannot be mistaken for one pass or none.
inline constexpr int passes = 1'000'003;

/// From shared memory, where each block has put all words first; from global memory through the L1
/// caches. bandwidth.cu
void bandwidth_shared(const ProbeArgs& args, cudaStream_t stream);
void bandwidth_l1(const ProbeArgs& args, cudaStream_t stream);

/// Also `passes` passes, but all lanes of a warp read the same word at a time: from shared memory,
/// where each block has put all words first; through the L1 caches; from constant memory, as
/// latency_constant. count > 0. uniform.cu
void uniform_shared(const ProbeArgs& args, cudaStream_t stream);
void uniform_l1(const ProbeArgs& args, cudaStream_t stream);
void uniform_constant(const ProbeArgs& args, cudaStream_t stream);

/// Writes shared memory in `passes` passes. One block does a pass: it writes i / 4 + 1 and the
/// number of the pass into word i. Each block stores one word in out: the fold of its last pass's
/// words less that number, with word i rotated left by i mod 4. All blocks store
/// the same word; those after the last are 0. write.cu
void write_shared(const ProbeArgs& args, cudaStream_t stream);

/// Bytes of shared memory that a block of these three needs: for the words, rounded up to 16 bytes,
/// and at most folding_bytes more to fold in.
constexpr std::int64_t staged_bytes(std::int64_t count) { return (count + 3) / 4 * 16; }
inline constexpr std::int64_t folding_bytes = 32;

}  // namespace recheck::kernels::memory
