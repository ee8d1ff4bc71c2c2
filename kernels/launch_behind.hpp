// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace recheck::kernels {

/// Starts a kernel whose launch overlaps with the end of the kernel before it in the stream
/// (programmatic dependent launch). It calls hopper::wait_for_previous() before it touches what
/// that one writes, in every block, so that what comes behind may rely on both.
template <class... Parameters, class... Arguments>
void launch_behind(void (*kernel)(Parameters...), unsigned blocks, int threads, int shared,
                   cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = static_cast<unsigned>(threads);
  config.dynamicSmemBytes = static_cast<std::size_t>(shared);
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

}  // namespace recheck::kernels
