// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategy.hpp"

namespace recheck {

// Limits of CUDA that rows run into, as the reasons they give.

/// A block asks for so many bytes of shared memory.
inline Reason shared_memory_fits(std::int64_t bytes, const Device& device) {
  if (bytes <= device.shared_bytes_per_block) return {};
  return "needs " + std::to_string(bytes) + " B of shared memory per block, the device allows " +
         std::to_string(device.shared_bytes_per_block) + " B";
}

/// A grid covers so many rows of a matrix, with blocks of `tile` rows.
inline Reason grid_fits(std::int64_t rows, std::int64_t tile) {
  constexpr std::int64_t most = 65535;
  if (rows <= most * tile) return {};
  return "needs a grid of " + std::to_string((rows + tile - 1) / tile) +
         " rows of blocks, CUDA allows " + std::to_string(most);
}

/// The same of a shape's first extent, as a row's `fits`.
template <int tile>
Reason grid_fits(const Shape& shape, const Device&) {
  return grid_fits(shape[0], tile);
}

/// Instructions that come with a compute capability: 80 is 8.0.
template <int least>
Reason from_capability(const Device& device) {
  if (device.compute_capability >= least) return {};
  return "needs compute capability " + std::to_string(least / 10) + "." +
         std::to_string(least % 10) + ", the device has " +
         std::to_string(device.compute_capability / 10) + "." +
         std::to_string(device.compute_capability % 10);
}

/// Hopper's wgmma and setmaxnreg: on 9.0 alone, in code for 90a.
inline Reason on_hopper(const Device& device) {
  if (device.compute_capability != 90) return "needs compute capability 9.0 exactly, for wgmma";
#ifdef RECHECK_HAVE_SM90A
  return {};
#else
  return "built without code for sm_90a, which has wgmma";
#endif
}

}  // namespace recheck
