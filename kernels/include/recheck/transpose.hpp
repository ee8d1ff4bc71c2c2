// SPDX-License-Identifier: Apache-2.0
#pragma once

// A transposition as a library function: recheck::kernels links CUDA alone.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "arguments.hpp"

namespace recheck::kernels::transpose {

/// out = inᵀ on the current device, by the rung that was measured fastest nearest to the shape; by
/// the one named `rung` if that is not empty. Workspace, streams, threads and what is returned are
/// as of matmul::best (matmul.hpp).
cudaError_t best(const TransposeArgs& args, void* workspace, std::size_t& bytes,
                 cudaStream_t stream = nullptr, std::string_view rung = {}) noexcept;

/// The rung that `best` takes for these arguments; empty where it would refuse. And all that may be
/// named.
std::string_view best_rung(const TransposeArgs& args) noexcept;
std::span<const std::string_view> best_rungs() noexcept;

}  // namespace recheck::kernels::transpose
