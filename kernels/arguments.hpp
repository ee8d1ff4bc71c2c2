// SPDX-License-Identifier: Apache-2.0
#pragma once

// The arguments of each experiment's kernels. Nothing here needs the CUDA Toolkit.

#include <cstdint>

namespace recheck::kernels {

/// The largest extent. Kernels round extents up, which the rest of int's range leaves room for.
inline constexpr int most_extent = 0x7fffffff - (1 << 21);

namespace matmul {

/// C = A · B in fp32, every matrix row-major: A is m×k, B is k×n, C is m×n. Leading dimensions
/// count elements (lda >= k, ldb >= n, ldc >= n). As in BLAS, nothing is read or written when m or
/// n is 0, and C becomes 0 when k is 0. Pointers are device-accessible memory (host memory for an
/// experiment's CPU rows). C must not overlap A or B; this is not checked.
struct MatmulArgs {
  int m = 0, n = 0, k = 0;
  const float* a = nullptr;  // (m, k)
  std::int64_t lda = 0;
  const float* b = nullptr;  // (k, n)
  std::int64_t ldb = 0;
  float* c = nullptr;  // (m, n)
  std::int64_t ldc = 0;
};

}  // namespace matmul
namespace matvec {

/// r = A · v in fp32. A is rows×columns, stored by rows or by columns as each function says. pitch
/// is the distance from one stored row (or column) to the next, in bytes, as cudaMallocPitch
/// returns it, and a multiple of sizeof(float). v and r are contiguous. r becomes 0 when columns is
/// 0; nothing is read or written when rows is 0. Pointers are device-accessible memory. r must not
/// overlap A or v; this is not checked.
struct MatvecArgs {
  int rows = 0, columns = 0;
  const float* a = nullptr;
  std::int64_t pitch = 0;    // bytes
  const float* v = nullptr;  // (columns)
  float* r = nullptr;        // (rows)
};

}  // namespace matvec
namespace transpose {

/// out = inᵀ in fp32: in is rows×columns, out is columns×rows, both row-major. Leading dimensions
/// count elements (ldin >= columns, ldout >= rows). Nothing is read or written when an extent is 0.
/// Pointers are device-accessible memory. out must not overlap in; this is not checked.
struct TransposeArgs {
  int rows = 0, columns = 0;
  const float* in = nullptr;
  std::int64_t ldin = 0;
  float* out = nullptr;
  std::int64_t ldout = 0;
  int repeats = 1;  // repeats NVIDIA's loads and stores; other kernels ignore it
};

}  // namespace transpose
}  // namespace recheck::kernels
