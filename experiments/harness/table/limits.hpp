// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strategy.hpp"

namespace recheck {

// CUDA's limits that rows reach, as the reasons that they give.

/// For a block that needs this much shared memory.
inline Reason shared_memory_fits(std::int64_t bytes, const Device& device) {
  if (bytes <= device.shared_bytes_per_block) return {};
  return "needs " + std::to_string(bytes) + " B of shared memory per block, the device allows " +
         std::to_string(device.shared_bytes_per_block) + " B";
}

/// For a cluster of this many blocks. Source: NVIDIA's Hopper and Blackwell tuning guides, "Thread
/// Block Clusters": 8 on every device, 16 on request on H100 and B200.
inline Reason cluster_fits(int blocks, const Device& device) {
  const int most = device.compute_capability < 120 ? 16 : 8;
  if (blocks <= most) return {};
  return "needs a cluster of " + std::to_string(blocks) + " blocks, the device allows " +
         std::to_string(most);
}

/// For a grid that covers this many rows of a matrix, with `tile` rows per block.
inline Reason grid_fits(std::int64_t rows, std::int64_t tile) {
  constexpr std::int64_t most = 65535;
  if (rows <= most * tile) return {};
  return "needs a grid of " + std::to_string((rows + tile - 1) / tile) +
         " rows of blocks, CUDA allows " + std::to_string(most);
}

/// grid_fits() for a shape's first extent, as a row's `fits`.
template <int tile>
Reason grid_fits(const Shape& shape, const Device&) {
  return grid_fits(shape[0], tile);
}

/// For code without guards: it computes whole tiles, and at least one.
inline Reason whole_tiles(std::string_view axis, std::int64_t extent, std::int64_t tile) {
  if (extent > 0 && extent % tile == 0) return {};
  return "has no guards: " + std::string(axis) + " has to be a positive multiple of " +
         std::to_string(tile);
}

/// For int or unsigned indices, with this many bits without the sign, over this many elements.
inline Reason indices_fit(std::int64_t elements, int bits) {
  if (elements <= std::int64_t{1} << bits) return {};
  return "has indices of 32 bits: they count " + std::to_string(std::int64_t{1} << bits) +
         " elements, and there are " + std::to_string(elements);
}

/// For instructions that require a compute capability (80 is 8.0): both the device and this build's
/// code for it, which may be older PTX, must have it.
template <int least>
Reason from_capability(const Device& device) {
  const auto text = [](int version) {
    return std::to_string(version / 10) + "." + std::to_string(version % 10);
  };
  const int capability = device.compute_capability,
            code = device.code != 0 ? device.code : capability;
  if (capability < least)
    return "needs compute capability " + text(least) + ", the device has " + text(capability);
  if (code < least)
    return "needs code for compute capability " + text(least) + ", this build has " + text(code) +
           "'s for the device: configure where the device is, or with "
           "-DRECHECK_ALL_ARCHITECTURES=ON";
  return {};
}

/// Hopper's wgmma and setmaxnreg: only on 9.0, in code for 90a.
inline Reason on_hopper(const Device& device) {
  if (device.compute_capability != 90) return "needs compute capability 9.0 exactly, for wgmma";
#ifdef RECHECK_HAVE_SM90A
  return {};
#else
  return "built without code for sm_90a, which has wgmma";
#endif
}

}  // namespace recheck
