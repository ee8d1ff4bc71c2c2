// SPDX-License-Identifier: Apache-2.0
//
// What matmul's `best` chooses by its committed tables, on GPUs that are not here.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "../../kernels/best.hpp"
#include "../../kernels/include/recheck/matmul.hpp"
#include "../../kernels/matmul/matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

// compute capability, multiprocessors, and what the code that they run was made for
constexpr GpuModel t4 = {75, 40, 75}, a100 = {80, 108, 80}, rtx_4090 = {89, 128, 89},
                   h200_by_ptx = {90, 132, 80}, small = {86, 20, 86}, by_old_ptx = {120, 170, 75};

std::string chosen(const GpuModel& gpu, int m, int n, int k) {
  MatmulArgs args = {};
  args.m = m;
  args.n = n;
  args.k = k;
  args.lda = k;
  args.ldb = args.ldc = n;
  return std::string(best_on(gpu, args));
}

TEST(Choice, OfFewOutputsAndADeepSumSharesIt) {
  for (const auto& gpu : {t4, a100, rtx_4090, h200_by_ptx, small, by_old_ptx})
    EXPECT_TRUE(chosen(gpu, 16, 16, 1000000).starts_with("k_stretches"))
        << gpu.compute_capability << ": " << chosen(gpu, 16, 16, 1000000);
}

TEST(Choice, OfALargeProductHasTilesInRegistersWhateverTheGpu) {
  for (const auto& gpu : {t4, a100, rtx_4090, h200_by_ptx, small, by_old_ptx}) {
    const auto name = chosen(gpu, 4096, 4096, 4096);
    EXPECT_FALSE(name.starts_with("tile")) << gpu.compute_capability << ": " << name;
  }
}

TEST(Choice, IsARungThatTheGpuHasCodeFor) {
  const Names rungs = best_rungs();
  for (const int m : {1, 17, 300, 5000}) {
    for (const int n : {1, 64, 777, 8192}) {
      for (const int k : {1, 100, 2000, 100000}) {
        for (const auto& gpu : {t4, by_old_ptx})
          EXPECT_FALSE(chosen(gpu, m, n, k).starts_with("async"));
        for (const auto& gpu : {t4, a100, rtx_4090, h200_by_ptx, small, by_old_ptx}) {
          const auto name = chosen(gpu, m, n, k);
          EXPECT_NE(std::ranges::find(rungs, name), rungs.end()) << name;
          EXPECT_FALSE(name.starts_with("tma") || name.starts_with("stream")) << name;
        }
      }
    }
  }
}

TEST(Choice, StretchesCoverAllOfKOnce) {
  for (const int tiles : {1, 2, 7, 191, 192, 384, 10000}) {
    for (const int k : {0, 1, 15, 16, 17, 64, 127, 128, 1000, 65537, 1000000, 2147483647}) {
      for (const int blocks : {384, 2048}) {
        const Stretches found = stretches_of_k(tiles, k, blocks);
        EXPECT_GE(found.count, 1);
        const auto all = static_cast<std::int64_t>(found.count) * found.length;
        EXPECT_GE(all, k) << tiles << ' ' << k;
        if (found.count == 1) continue;
        EXPECT_LT(all - found.length, k) << "an empty stretch";
        EXPECT_EQ(found.length % k_stretches_depth, 0);
        EXPECT_GE(found.length, 4 * k_stretches_depth);
        EXPECT_LE(found.count * tiles, blocks);
      }
    }
  }
}

TEST(Choice, ClustersLeaveEachWarpSlabsAndAreNotTooMany) {
  for (const int most : {1, 8}) {
    for (const std::int64_t tiles : {1LL, 2LL, 7LL, 128LL, 129LL, 256LL, 1LL << 31}) {
      for (const int slabs : {0, 1, 63, 64, 128, 255, 256, 1000, 134217728}) {
        const int found = cluster_of_k(tiles, slabs, most);
        EXPECT_TRUE(found == 1 || found == 2 || found == 4 || found == 8) << found;
        EXPECT_LE(found, most);
        const auto takes = [&](int cluster) {
          return cluster * tiles <= 256 && slabs >= 4 * sharing_warps * cluster;
        };
        EXPECT_TRUE(found == 1 || takes(found)) << tiles << ' ' << slabs;
        EXPECT_FALSE(2 * found <= most && takes(2 * found)) << tiles << ' ' << slabs;
      }
    }
  }
}

TEST(Choice, ClustersThatShareKLeaveEachWarpSlabsAndAreNotTooMany) {
  EXPECT_EQ(clusters_of_k(1, 1000000, 8, 0), 1);
  EXPECT_EQ(clusters_of_k(0, 1000, 8, 256), 1);
  for (const int most : {1, 8}) {
    for (const std::int64_t tiles : {1LL, 2LL, 7LL, 33LL, 256LL, 1LL << 31}) {
      for (const int slabs : {0, 1, 63, 64, 255, 256, 512, 1000, 134217728}) {
        const int cluster = cluster_of_k(tiles, slabs, most),
                  found = clusters_of_k(tiles, slabs, cluster, 256);
        const auto takes = [&](std::int64_t sharing) {
          return sharing * tiles <= 256 && slabs >= 4 * sharing_warps * sharing;
        };
        EXPECT_GE(found, 1);
        // a smaller cluster than there may be is alone
        EXPECT_TRUE(found == 1 || cluster == most) << tiles << ' ' << slabs;
        EXPECT_TRUE(found == 1 || takes(found * cluster)) << tiles << ' ' << slabs;
        EXPECT_FALSE(takes(std::int64_t{found + 1} * cluster)) << tiles << ' ' << slabs;
      }
    }
  }
}

}  // namespace
}  // namespace recheck::kernels::matmul
