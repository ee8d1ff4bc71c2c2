// SPDX-License-Identifier: Apache-2.0
//
// What matmul's `best` chooses by its committed tables, on GPUs that are not here.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "../../kernels/best.hpp"
#include "../../kernels/include/recheck/matmul.hpp"
#include "../../kernels/matmul/matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

// compute capability, multiprocessors, and what the code that they run was made for
constexpr GpuModel t4 = {75, 40, 75}, a100 = {80, 108, 80}, rtx_4090 = {89, 128, 89},
                   h200 = {90, 132, 90}, h200_by_ptx = {90, 132, 80}, rtx_5090 = {120, 170, 120},
                   small = {86, 20, 86}, by_old_ptx = {120, 170, 75};

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
  for (const auto& gpu : {t4, by_old_ptx})
    EXPECT_EQ(chosen(gpu, 16, 16, 1000000), "k_stretches_tile_m16") << gpu.compute_capability;
  for (const auto& gpu : {a100, rtx_4090, h200_by_ptx, small})
    EXPECT_TRUE(chosen(gpu, 16, 16, 1000000).starts_with("k_warps"))
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

TEST(Choice, OfAMatrixTimesAVectorIsMatvecsWhereThatIsFast) {
  for (const auto& gpu : {t4, a100, rtx_4090, h200, h200_by_ptx, rtx_5090, small, by_old_ptx}) {
    SCOPED_TRACE(gpu.compute_capability);
    EXPECT_EQ(chosen(gpu, 4096, 1, 4096), "matvec");
    EXPECT_EQ(chosen(gpu, 1, 4096, 4096), "matvec");
    // little work, which tiles do in no time
    for (const int k : {0, 1, 3, 31}) {
      EXPECT_NE(chosen(gpu, 300, 1, k), "matvec") << k;
      EXPECT_NE(chosen(gpu, 1, 300, k), "matvec") << k;
    }
    // short rows of A, however many
    for (const int m : {1, 19, 294, 3000, 100000})
      for (const int k : {32, 85, 1001, 1920}) EXPECT_EQ(chosen(gpu, m, 1, k), "matvec") << m;
    // longer ones as whole vectors, the longer the more of them
    for (const int k : {2048, 12288}) EXPECT_EQ(chosen(gpu, 1, 1, k), "matvec") << k;
    EXPECT_EQ(chosen(gpu, 130, 1, 20000), "matvec");
    EXPECT_EQ(chosen(gpu, 3000, 1, 5001), "matvec");
    // few columns of B
    EXPECT_NE(chosen(gpu, 1, 20, 8192), "matvec");
    // no vector
    EXPECT_NE(chosen(gpu, 2, 2, 4096), "matvec");
    EXPECT_NE(chosen(gpu, 4096, 2, 4096), "matvec");
    EXPECT_NE(chosen(gpu, 0, 4096, 4096), "matvec");
  }
  // without clusters very few columns of a deep sum, and some of a deeper one
  for (const auto& gpu : {t4, a100, rtx_4090, h200_by_ptx, by_old_ptx}) {
    EXPECT_EQ(chosen(gpu, 1, 3, 507), "matvec");
    EXPECT_EQ(chosen(gpu, 1, 36, 34816), "matvec");
  }
  // few long rows only with bulk copies and clusters, and a shallow sum of many columns by these
  const std::pair<int, int> few_long[] = {{9, 98304}, {64, 20000}, {85, 2074}, {1000, 5001}};
  for (const auto& [m, k] : few_long) {
    for (const auto& gpu : {h200, rtx_5090}) EXPECT_EQ(chosen(gpu, m, 1, k), "matvec") << m;
    for (const auto& gpu : {t4, a100, rtx_4090, h200_by_ptx, small, by_old_ptx})
      EXPECT_NE(chosen(gpu, m, 1, k), "matvec") << m << ' ' << gpu.compute_capability;
  }
  EXPECT_EQ(chosen(h200, 1, 5000, 130), "matvec");
  for (const auto& gpu : {t4, a100, rtx_4090, h200_by_ptx, small, by_old_ptx}) {
    EXPECT_NE(chosen(gpu, 1, 5000, 130), "matvec") << gpu.compute_capability;
    // a deep one of fewer columns by blocks
    EXPECT_EQ(chosen(gpu, 1, 500, 4096), "matvec") << gpu.compute_capability;
  }
  EXPECT_NE(chosen(h200, 1, 500, 4096), "matvec");
  EXPECT_NE(chosen(rtx_5090, 1, 5000, 130), "matvec") << "16 blocks to a cluster";
}

TEST(Choice, IsMatvecsOfVectorsWithoutGapsOnly) {
  const MatmulArgs column = {.m = 4096, .n = 1, .k = 4096, .lda = 5000, .ldb = 1, .ldc = 1};
  EXPECT_EQ(best_on(h200, column), "matvec");
  for (const auto gap : {&MatmulArgs::ldb, &MatmulArgs::ldc}) {
    MatmulArgs gaps = column;
    gaps.*gap = 2;
    EXPECT_NE(best_on(h200, gaps), "matvec");
  }
  // longer rows go there as whole vectors alone, and these begin where rows do
  MatmulArgs rows = {.m = 9, .n = 1, .k = 8192, .lda = 8192, .ldb = 1, .ldc = 1};
  EXPECT_EQ(best_on(a100, rows), "matvec");
  rows.lda = 8193;
  EXPECT_NE(best_on(a100, rows), "matvec");
  rows.k = 8191;
  rows.lda = 8192;
  EXPECT_EQ(best_on(a100, rows), "matvec");
  // gaps of which there are none
  EXPECT_TRUE(is_matvec({.m = 4096, .n = 1, .k = 1, .lda = 9, .ldb = 9, .ldc = 1}));
  EXPECT_TRUE(is_matvec({.m = 4096, .n = 1, .k = 0, .lda = 9, .ldb = 9, .ldc = 1}));
  EXPECT_TRUE(is_matvec({.m = 0, .n = 1, .k = 9, .lda = 9, .ldb = 1, .ldc = 9}));
  // one row is a vector whatever the leading dimensions, one sum as well
  EXPECT_EQ(best_on(h200, {.m = 1, .n = 2048, .k = 680, .lda = 900, .ldb = 3000, .ldc = 3000}),
            "matvec");
  EXPECT_TRUE(is_matvec({.m = 1, .n = 1, .k = 2048, .lda = 3000, .ldb = 99, .ldc = 70}));
  EXPECT_FALSE(is_matvec({.m = 2, .n = 0, .k = 9, .lda = 9, .ldb = 1, .ldc = 1}));
}

TEST(Choice, HasItsWorkspaceInWhatAllRungsNeed) {
  for (const std::int64_t n : {1, 7, 64, 5000, 1 << 30})
    for (const std::int64_t k : {0, 1, 300, 1 << 30})
      EXPECT_LE(matvec_floats(1, n, k), best_floats(1, n, k)) << n << ' ' << k;
  EXPECT_EQ(matvec_floats(5000, 1, 5000), 0);
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
          return cluster * tiles <= 256 && slabs >= sharing_warps * cluster;
        };
        EXPECT_TRUE(found == 1 || takes(found)) << tiles << ' ' << slabs;
        EXPECT_FALSE(2 * found <= most && takes(2 * found)) << tiles << ' ' << slabs;
      }
    }
  }
}

TEST(Choice, BlocksThatShareKLeaveEachWarpSlabsAndAreNotTooMany) {
  EXPECT_EQ(blocks_of_k(0, 1000, 256), 1);
  for (const std::int64_t tiles : {1LL, 2LL, 7LL, 33LL, 256LL, 1LL << 31}) {
    for (const int slabs : {0, 1, 15, 16, 31, 32, 48, 512, 1000, 134217728}) {
      const int found = blocks_of_k(tiles, slabs, 256);
      const auto takes = [&](std::int64_t blocks) {
        return blocks * tiles <= 256 && slabs >= 2 * sharing_warps * blocks;
      };
      EXPECT_TRUE(found == 1 || takes(found)) << tiles << ' ' << slabs;
      EXPECT_FALSE(takes(std::int64_t{found} + 1)) << tiles << ' ' << slabs;
    }
  }
}

}  // namespace
}  // namespace recheck::kernels::matmul
