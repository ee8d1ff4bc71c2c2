// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the kernels take, experiment by experiment. Nothing here needs the CUDA Toolkit.

#include <cstdint>

namespace recheck::kernels {

/// The extents of a call of `best` go so far: what is left to 2³¹ the rungs need to count in.
inline constexpr int most_extent = 0x7fffffff - (1 << 21);

namespace matmul {

/// C = A · B in fp32, every matrix row-major: A is m×k, B is k×n, C is m×n.
/// Leading dimensions count elements (lda >= k, ldb >= n, ldc >= n). As in BLAS, nothing is read or
/// written when m or n is 0, and C becomes 0 when k is 0. Pointers are where the launcher runs:
/// device memory for a GPU strategy, host memory for a CPU strategy. C overlaps with neither input.
struct MatmulArgs {
  int m, n, k;
  const float* a;  // (m, k)
  std::int64_t lda;
  const float* b;  // (k, n)
  std::int64_t ldb;
  float* c;  // (m, n)
  std::int64_t ldc;
};

}  // namespace matmul
namespace matvec {

/// r = A · v in fp32. A is rows×columns, stored by rows or by columns as each launcher says; pitch
/// is the distance from one stored row (or column) to the next, in bytes, as cudaMallocPitch
/// returns it and a multiple of sizeof(float). r becomes 0 when columns is 0; nothing is read or
/// written when rows is 0. Pointers are device memory; r overlaps with neither input.
struct MatvecArgs {
  int rows, columns;
  const float* a;
  std::int64_t pitch;
  const float* v;  // (columns)
  float* r;        // (rows)
};

}  // namespace matvec
namespace transpose {

/// out = inᵀ in fp32: in is rows×columns, out is columns×rows, both row-major. Leading dimensions
/// count elements (ldin >= columns, ldout >= rows). Nothing is read or written when an extent is 0.
/// Pointers are device memory; out does not overlap with in.
struct TransposeArgs {
  int rows, columns;
  const float* in;
  std::int64_t ldin;
  float* out;
  std::int64_t ldout;
  int repeats = 1;  // how often a kernel of NVIDIA's repeats its loads and stores; others ignore it
};

}  // namespace transpose
}  // namespace recheck::kernels
