// SPDX-License-Identifier: Apache-2.0
//
// The SDK's utilities, which timed and checked for errors; CUDA 5.0 no longer had them.
// refused: cutil.h: No such file or directory

#ifdef MENDED
#include <cuda_runtime.h>

void begin(cudaEvent_t* timer) {
  cudaEventCreate(timer);
  cudaEventRecord(*timer);
}
#else
#include <cutil.h>

void begin(unsigned* timer) {
  cutilCheckError(cutCreateTimer(timer));
  cutilCheckError(cutStartTimer(*timer));
}
#endif
