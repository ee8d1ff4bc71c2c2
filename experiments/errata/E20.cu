// SPDX-License-Identifier: Apache-2.0
//
// A macro that is used above its definition.
// refused: identifier "BLOCK_SIZE" is undefined

#ifdef MENDED
#define BLOCK_SIZE 16
#endif

__device__ const float* tile(const float* data, int stride, int row, int column) {
  return data + BLOCK_SIZE * (row * stride + column);
}

#ifndef MENDED
#define BLOCK_SIZE 16
#endif
