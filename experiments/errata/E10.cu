// SPDX-License-Identifier: Apache-2.0
//
// A launch between single angle brackets.
// refused: no operator "<" matches these operands

#include <cuda_runtime.h>

__global__ void clear(float* out) { out[threadIdx.x] = 0; }

void launch(float* out) {
  dim3 threads(16), blocks(1);
#ifdef MENDED
  clear<<<blocks, threads>>>(out);
#else
  clear<blocks, threads>(out);
#endif
}
