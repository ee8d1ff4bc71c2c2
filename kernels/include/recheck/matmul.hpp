// SPDX-License-Identifier: Apache-2.0
#pragma once

// A product of matrices as a library function: recheck::kernels links CUDA alone. C++17.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string_view>

#include "arguments.hpp"

namespace recheck::kernels::matmul {

/// C = A · B in IEEE fp32 on the current device, by one of several kernels, here called rungs: the
/// one named `rung`; if that is empty, of those that run on this device the one that was fastest at
/// this shape or one very like it, else the one that is expected to be; a C of one row, or of one
/// column without gaps in it and B, is mostly left to matvec::best_column_major or best.
/// (Measured on an H200; what is expected of another GPU is a guess, by the H200's costs and its
/// own multiprocessors.)
///
/// Call it twice, like CUB's functions. With workspace == nullptr it sets `bytes` to what this call
/// needs, a multiple of 256 and at least that, and launches nothing. Then pass at least so many
/// bytes of device memory on 16 bytes; what is in it does not matter, and is overwritten. `bytes`
/// is then what you own, and is not changed, nor is it by a call that is refused. What is needed
/// depends on the extents, the device, the rung, and on whether pointers and leading dimensions are
/// multiples of 16 bytes: up to 21 MB, and a copy of B where that is not so aligned; or little more
/// than C has, where that is one row and longer.
///
/// It puts all its work on `stream` (nullptr: the legacy default stream), does not wait, allocates
/// nothing and keeps no state. It may be called from any thread. Calls whose work may overlap in
/// time need a workspace each; those that follow one another on a stream may share one. It may be
/// captured into a graph, for whose life workspace and matrices have to stay; call it once before,
/// so that its code is loaded. The same call on the same device leaves the same bits: sums are
/// added in a fixed order. Another rung or another device may add in another order.
///
/// What is wrong is returned, and nothing is launched. In this order:
///   cudaErrorInvalidValue           an extent below 0 or above most_extent
///   cudaErrorInvalidPitchValue      a leading dimension smaller than its row, or so large that the
///                                   matrix spans more than most_elements
///   cudaErrorInvalidDevicePointer   a null pointer to something that would be read or written
///   cudaErrorMisalignedAddress      a pointer that is not on 4 bytes
///   what cudaGetDevice says         there is no device to use
///   cudaErrorInvalidValue           no rung has this name
///   cudaErrorNoKernelImageForDevice the rung does not run on this device, or none does
///   cudaErrorInvalidConfiguration   the named rung does not take this shape
/// and if there is a workspace
///   cudaErrorInvalidValue           it has fewer bytes than needed
///   cudaErrorMisalignedAddress      it is not on 16 bytes
///   what an earlier call has left   read with cudaGetLastError, so that it is returned once
/// Else what CUDA says of the launches; cudaGetLastError has then nothing to add. Memory that is
/// not the device's is an error of the launch that surfaces when one waits for it, as of any
/// kernel.
cudaError_t best(const MatmulArgs& args, void* workspace, std::size_t& bytes,
                 cudaStream_t stream = nullptr, std::string_view rung = {}) noexcept;

/// The name of the rung that `best` takes for these extents on the current device; pass it as
/// `rung` to keep to it. Empty where `best` without a workspace would refuse.
std::string_view best_rung(const MatmulArgs& args) noexcept;

/// All names that there are; some devices and shapes refuse some. Another version of Recheck may
/// have others.
Names best_rungs() noexcept;

}  // namespace recheck::kernels::matmul
