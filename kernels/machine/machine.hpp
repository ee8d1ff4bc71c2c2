// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../fold.hpp"
#include "../stream.hpp"

namespace recheck::kernels::machine {

/// What a probe works on: `count` floats to read, and where its result goes, both in device memory
/// and starting on 16 bytes.
struct ProbeArgs {
  std::int64_t count;
  const float* in;
  float* out;
};

// Launchers put their work on a stream and return; they allocate nothing and keep no state. Errors
// are the caller's to read (cudaGetLastError).

/// out, fold_partials words, folds to the exclusive or of all words of in. read.cu
void read(const ProbeArgs& args, cudaStream_t stream);

/// out[i] = i mod 1024 for i < count; reads nothing. write.cu
void write(const ProbeArgs& args, cudaStream_t stream);

/// out = in, count floats, by a kernel; by cudaMemcpy. copy.cu, memcpy.cpp
void copy(const ProbeArgs& args, cudaStream_t stream);
void memcpy(const ProbeArgs& args, cudaStream_t stream);

/// As read, l2_passes times in one launch, past the L1 caches. An odd number, or the passes would
/// cancel. l2_read.cu
void l2_read(const ProbeArgs& args, cudaStream_t stream);
inline constexpr int l2_passes = 65;

/// out[i], i < count, is the sum of ffma_chains chains: chain c starts from c and adds in[i]
/// ffma_steps times, by fused multiply-adds with a factor of 1. ffma.cu
void ffma(const ProbeArgs& args, cudaStream_t stream);
inline constexpr int ffma_chains = 8, ffma_steps = 4096;

/// out[0] = in[0]: a launch and nothing else. launch.cu
void launch(const ProbeArgs& args, cudaStream_t stream);

}  // namespace recheck::kernels::machine
