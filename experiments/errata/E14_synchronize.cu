// SPDX-License-Identifier: Apache-2.0
//
// What was deprecated with CUDA 4.0, and is gone since 13.0.
// refused: cudaThreadSynchronize

#include <cuda_runtime.h>

void wait() {
#ifdef MENDED
  cudaDeviceSynchronize();
#else
  cudaThreadSynchronize();
#endif
}
