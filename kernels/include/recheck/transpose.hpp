// SPDX-License-Identifier: Apache-2.0
#pragma once

// A transposition as a library function: recheck::kernels links CUDA alone. C++17.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string_view>

#include "arguments.hpp"

namespace recheck::kernels::transpose {

/// out = inᵀ on the current device, by the rung named `rung`; if that is empty, by the fastest at
/// the nearest shape that was measured. Workspace (256 bytes), streams, threads and errors are as
/// for matmul::best (matmul.hpp).
cudaError_t best(const TransposeArgs& args, void* workspace, std::size_t& bytes,
                 cudaStream_t stream = nullptr, std::string_view rung = {}) noexcept;

/// The name of the rung that `best` takes; empty where it would refuse. And all names.
std::string_view best_rung(const TransposeArgs& args) noexcept;
Names best_rungs() noexcept;

}  // namespace recheck::kernels::transpose
