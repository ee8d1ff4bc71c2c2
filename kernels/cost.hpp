// SPDX-License-Identifier: Apache-2.0
#pragma once

// About how long a rung takes for a product of matrices that nobody has measured: from how its work
// falls to multiprocessors, and from ten numbers that kernels/cost.py fits to what was measured.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace recheck::kernels {

/// The warps of a block that share the k of its tile, and the blocks of a cluster that do: as many
/// as leave each warp a slab and are not more than 256 in all, about what an H200 has room for.
inline constexpr int sharing_warps = 8;
constexpr int cluster_of_k(std::int64_t tiles, std::int64_t slabs, int most) {
  constexpr int blocks = 256;
  int cluster = 1;
  while (2 * cluster <= most && 2 * cluster * tiles <= blocks &&
         2 * cluster * sharing_warps <= slabs)
    cluster *= 2;
  return cluster;
}

/// Multiprocessors that have room for clusters of several blocks: a cluster lies within a group of
/// them (GPC), and not every group holds whole clusters. By an H200's times.
constexpr int for_clusters(int multiprocessors) { return std::max(1, multiprocessors * 19 / 20); }

/// The blocks that share it and leave their sums to a second kernel: until there are about so many
/// in all, and as many as leave each warp two slabs.
constexpr int blocks_of_k(std::int64_t tiles, std::int64_t slabs, int blocks) {
  constexpr int least = 2;
  if (tiles == 0) return 1;
  const std::int64_t most = std::min(blocks / tiles, slabs / (sharing_warps * least));
  return static_cast<int>(std::max<std::int64_t>(1, most));
}

/// How a rung cuts a product: tiles of C, along k in slabs. cost.py knows the same.
struct Plan {
  int rows, columns, depth;
  int resident;       // blocks that a multiprocessor holds at a time
  int split = 1;      // blocks that share a tile's slabs, always
  int blocks = 0;     // if not 0: so many share a tile's slabs that there are about as many blocks
  bool even = false;  // all multiprocessors have equally many slabs, whatever the tiles
  int cluster = 0;    // if not 0: a block's warps share a tile's slabs, and up to so many blocks
};

/// What was fitted for a rung on a GPU, in microseconds.
struct Cost {
  int compute_capability, multiprocessors;  // where it was measured
  std::string_view name;
  float start;      // a launch
  float second;     // that of a kernel that adds; where one always does, only their sum is known
  float alone;      // a slab of one block on a multiprocessor
  float each;       // a slab of each block that it works on besides
  float unaligned;  // both times so much where vectors of four words do not fit
  float store;      // 1000 outputs of the multiprocessor with most, besides
  float scattered;  // what these take at least before that where rows of C are no whole vectors
  float padding;    // what of slabs lies beyond k, as a share of what it would take
  float read;       // a million words of A and B, besides the slabs
  float wave;       // each wave of blocks but the first, besides its slabs
};

/// Microseconds that a rung is expected to take on so many multiprocessors.
inline float expected(const Plan& plan, const Cost& cost, int multiprocessors, bool vectors,
                      const int (&product)[3]) {
  const auto over = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t tiles = over(product[0], plan.rows) * over(product[1], plan.columns);
  const std::int64_t slabs = over(product[2], plan.depth);
  std::int64_t blocks = tiles;
  int room = multiprocessors;             // of which so many take blocks
  bool added = false;                     // by a second kernel
  auto own = static_cast<double>(slabs);  // slabs of a block, or of each of its warps
  if (plan.even) {
    blocks = multiprocessors;
    own = std::ceil(static_cast<double>(tiles) * own / multiprocessors);
    added = true;
  } else if (plan.cluster > 0) {
    const bool alone = plan.blocks > 0;  // no clusters
    const int sharing =
        alone ? blocks_of_k(tiles, slabs, plan.blocks) : cluster_of_k(tiles, slabs, plan.cluster);
    added = alone && sharing > 1;
    if (!alone && sharing > 1) room = for_clusters(multiprocessors);
    blocks *= sharing;
    own = static_cast<double>(over(slabs, std::int64_t{sharing_warps} * sharing));
  } else {
    std::int64_t split = plan.split;
    if (plan.blocks > 0 && tiles > 0) {
      constexpr int least = 4;  // slabs of a block; as stretches_of_k has it
      split = std::max<std::int64_t>(1, std::min(plan.blocks / tiles, slabs / least));
      added = split > 1;
    }
    blocks *= split;
    own = static_cast<double>(over(slabs, split));
  }
  const std::int64_t most = over(blocks, room);
  const std::int64_t full = most / plan.resident, rest = most % plan.resident;
  const auto of = [&](std::int64_t count) {
    return count == 0 ? 0 : cost.alone + static_cast<float>(count - 1) * cost.each;
  };
  const float slab =  // of all waves
      (static_cast<float>(full) * of(plan.resident) + of(rest)) * (vectors ? 1 : cost.unaligned);
  if (slabs > 0) {
    const double held = product[2] / static_cast<double>(slabs * plan.depth);  // of a slab
    own *= held + (1 - held) * cost.padding;
  }
  const float more =
      cost.wave * static_cast<float>(std::max<std::int64_t>(full + (rest > 0) - 1, 0));
  const double words = (static_cast<double>(product[0]) + product[1]) * product[2];
  const float worked =
      static_cast<float>(own) * slab + more + cost.read * static_cast<float>(words / 1e6);
  float outputs = 0;  // in thousands, of the multiprocessor with most blocks
  if (tiles > 0) {
    const double of_tile =
        static_cast<double>(product[0]) * product[1] / static_cast<double>(tiles);
    const auto stored = static_cast<double>(plan.even ? over(tiles, multiprocessors) : most);
    outputs = static_cast<float>(of_tile * stored / 1000);
  }
  const float least = product[1] % 4 == 0 ? 0 : cost.scattered * outputs;
  return cost.start + (added ? cost.second : 0) + std::max(worked, least) + cost.store * outputs;
}

}  // namespace recheck::kernels
