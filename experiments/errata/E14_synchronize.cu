// SPDX-License-Identifier: Apache-2.0
//
// A function that CUDA 4.0 deprecated and 13.0 removed.
// refused: cudaThreadSynchronize

#include <cuda_runtime.h>

void wait() {
#ifdef MENDED
  cudaDeviceSynchronize();
#else
  cudaThreadSynchronize();
#endif
}
