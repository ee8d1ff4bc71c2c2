// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix–vector products as library functions: recheck::kernels links CUDA alone. C++17.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string_view>

#include "arguments.hpp"

namespace recheck::kernels::matvec {

/// r = A · v in IEEE fp32 on the current device, A stored by rows, by the rung named `rung`; if
/// that is empty, by the one that was fastest for rows as short, few or long, else at the nearest
/// shape that was measured. Workspace, streams, threads and errors are as for matmul::best
/// (matmul.hpp), with the pitch, which counts bytes, as the leading dimension:
/// cudaErrorInvalidPitchValue where it is smaller than a stored row, and cudaErrorMisalignedAddress
/// where it is no multiple of 4. `best` needs 256 bytes of workspace, best_column_major up to 68
/// kB, or little more than r has where that is longer.
cudaError_t best(const MatvecArgs& args, void* workspace, std::size_t& bytes,
                 cudaStream_t stream = nullptr, std::string_view rung = {}) noexcept;

/// The name of the rung that `best` takes; empty where it would refuse. And all names.
std::string_view best_rung(const MatvecArgs& args) noexcept;
Names best_rungs() noexcept;

/// The same of A stored by columns, where pitch leads from one column to the next and is at least
/// 4 · rows; equivalently r = Bᵀ · v of a columns×rows matrix B that is stored by rows.
cudaError_t best_column_major(const MatvecArgs& args, void* workspace, std::size_t& bytes,
                              cudaStream_t stream = nullptr, std::string_view rung = {}) noexcept;
std::string_view best_column_major_rung(const MatvecArgs& args) noexcept;
Names best_column_major_rungs() noexcept;

}  // namespace recheck::kernels::matvec
