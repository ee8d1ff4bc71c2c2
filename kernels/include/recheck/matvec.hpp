// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix–vector products as library functions: recheck::kernels links CUDA alone.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "arguments.hpp"

namespace recheck::kernels::matvec {

/// r = A · v in IEEE fp32 on the current device, A stored by rows, by the rung that was measured
/// fastest nearest to the shape; by the one named `rung` if that is not empty. Workspace, streams,
/// threads and what is returned are as of matmul::best (matmul.hpp), with the pitch for a leading
/// dimension: cudaErrorInvalidPitchValue where it is smaller than a row, cudaErrorMisalignedAddress
/// where it is no multiple of 4.
cudaError_t best(const MatvecArgs& args, void* workspace, std::size_t& bytes,
                 cudaStream_t stream = nullptr, std::string_view rung = {}) noexcept;

/// The rung that `best` takes for these arguments; empty where it would refuse. And all that may be
/// named.
std::string_view best_rung(const MatvecArgs& args) noexcept;
std::span<const std::string_view> best_rungs() noexcept;

/// The same of A stored by columns (pitch: from one column to the next); or r = Bᵀ · v of a matrix
/// B = Aᵀ stored by rows.
cudaError_t best_column_major(const MatvecArgs& args, void* workspace, std::size_t& bytes,
                              cudaStream_t stream = nullptr, std::string_view rung = {}) noexcept;
std::string_view best_column_major_rung(const MatvecArgs& args) noexcept;
std::span<const std::string_view> best_column_major_rungs() noexcept;

}  // namespace recheck::kernels::matvec
