// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../fold.hpp"
#include "../stream.hpp"

namespace recheck::kernels::machine {

/// A probe's arguments: `count` floats to read, and where its result goes. Both are in device
/// memory and start on 16 bytes.
struct ProbeArgs {
  std::int64_t count;
  const float* in;
  float* out;
};

// Launchers queue their work on a stream and return; they allocate nothing and keep no state. The
// caller reads errors (cudaGetLastError).

/// out, fold_partials words, folds to the exclusive or of all words of in. read.cu
void read(const ProbeArgs& args, cudaStream_t stream);

/// out[i] = i mod 1024 for i < count; reads nothing. write.cu
void write(const ProbeArgs& args, cudaStream_t stream);

/// out = in, count floats: by a kernel (copy.cu), and by cudaMemcpy (memcpy.cpp).
void copy(const ProbeArgs& args, cudaStream_t stream);
void memcpy(const ProbeArgs& args, cudaStream_t stream);

/// As read, but l2_passes times in one launch, bypassing the L1 caches. The number is odd, as an
/// even number of passes would cancel. l2_read.cu
void l2_read(const ProbeArgs& args, cudaStream_t stream);
inline constexpr int l2_passes = 65;

/// out[i], i < count, is the sum of ffma_chains chains: chain c starts from c and adds in[i]
/// ffma_steps times, by fused multiply-adds with a factor of 1. ffma.cu
void ffma(const ProbeArgs& args, cudaStream_t stream);
inline constexpr int ffma_chains = 8, ffma_steps = 4096;

/// out[0] = in[0]: the cost of a launch only. launch.cu
void launch(const ProbeArgs& args, cudaStream_t stream);

}  // namespace recheck::kernels::machine
