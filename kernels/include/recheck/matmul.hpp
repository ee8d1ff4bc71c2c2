// SPDX-License-Identifier: Apache-2.0
#pragma once

// A product of matrices as a library function: recheck::kernels links CUDA alone.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "arguments.hpp"

namespace recheck::kernels::matmul {

/// C = A · B in IEEE fp32 on the current device, by the rung that was measured fastest nearest to
/// the shape; by the one named `rung` if that is not empty.
///
/// Call it twice, as CUB's device functions. With workspace == nullptr it sets `bytes` to what this
/// call needs, at least 16, and launches nothing. Then with that much device memory, which starts
/// on 16 bytes and whose contents do not matter: it puts its work on `stream` and returns. The same
/// arguments (and alignments of pointers) need the same bytes on the same device.
///
/// Calls keep no state: they may be made from any thread, on any stream, and be captured into a
/// graph, each with a workspace of its own until its work is done. The same call on the same device
/// leaves the same bits; another rung, or another device, adds in another order.
///
/// Returns what went wrong, with nothing launched:
///   cudaErrorInvalidValue          an extent below 0 or above most_extent, a workspace of fewer
///                                  bytes than needed, a rung of no known name
///   cudaErrorInvalidPitchValue     a leading dimension smaller than its row
///   cudaErrorInvalidDevicePointer  a null pointer to a matrix that is not empty
///   cudaErrorMisalignedAddress     a matrix that is not on 4 bytes, a workspace not on 16
///   cudaErrorNoKernelImageForDevice, cudaErrorInvalidConfiguration
///                                  the named rung does not run on this device, or not this shape
///   what an earlier call has left (cudaGetLastError); it is thereby read
/// or, as of any launch, what CUDA says of it; nothing is left to be read behind it.
cudaError_t best(const MatmulArgs& args, void* workspace, std::size_t& bytes,
                 cudaStream_t stream = nullptr, std::string_view rung = {}) noexcept;

/// The name of the rung that `best` takes for these arguments on the current device, for `rung`
/// above to keep to it; empty where `best` would refuse. Names are of static storage.
std::string_view best_rung(const MatmulArgs& args) noexcept;

/// All that may be named.
std::span<const std::string_view> best_rungs() noexcept;

}  // namespace recheck::kernels::matmul
