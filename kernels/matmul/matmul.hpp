// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "../stream.hpp"

namespace recheck::kernels::matmul {

/// C = A · B in fp32, every matrix row-major: A is m×k, B is k×n, C is m×n.
/// Leading dimensions count elements (lda >= k, ldb >= n, ldc >= n). As in BLAS, nothing is read or
/// written when m or n is 0, and C becomes 0 when k is 0. Pointers are where the launcher runs:
/// device memory for a GPU strategy, host memory for a CPU strategy.
struct MatmulArgs {
  int m, n, k;
  const float* a;  // (m, k)
  std::int64_t lda;
  const float* b;  // (k, n)
  std::int64_t ldb;
  float* c;  // (m, n)
  std::int64_t ldc;
};

// Launchers put their work on a stream and return; they allocate nothing and keep no state. Errors
// are the caller's to read (cudaGetLastError), except cuBLAS's own, which are thrown.

/// One thread per element of C, block×block threads. global.cu
template <int block>
void global(const MatmulArgs& args, cudaStream_t stream);

/// Shared-memory tiles, depth tiles of A and B per phase. tile.cu
template <int tile_size, int depth>
void tile(const MatmulArgs& args, cudaStream_t stream);

/// The programming guide's Matrix / GetSubMatrix form of the 1-deep tile. submatrix.cu
template <int tile_size>
void submatrix(const MatmulArgs& args, cudaStream_t stream);

/// The whole strips of A and B that a block needs, staged at once. full_strip.cu
template <int tile_size>
void full_strip(const MatmulArgs& args, cudaStream_t stream);

/// Bytes of dynamic shared memory that one block of a launcher asks for, for `fits` to compare with
/// the device's limit.
constexpr std::int64_t tile_shared_bytes(int tile_size, int depth) {
  return 2LL * tile_size * tile_size * depth * static_cast<std::int64_t>(sizeof(float));
}
constexpr std::int64_t full_strip_shared_bytes(int tile_size, std::int64_t k) {
  return 2LL * tile_size * k * static_cast<std::int64_t>(sizeof(float));
}

/// cuBLAS, pedantic fp32: the vendor's answer to the same question. cublas.cpp
void cublas(const MatmulArgs& args, const Queue& queue);

/// cuBLAS with TF32 tensor cores: inputs lose 13 bits of mantissa. cublas.cpp
void cublas_tf32(const MatmulArgs& args, const Queue& queue);

}  // namespace recheck::kernels::matmul
