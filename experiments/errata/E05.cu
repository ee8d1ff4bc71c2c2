// SPDX-License-Identifier: Apache-2.0
//
// A kernel after machine translation: underscores halved and set apart, capitals at random.
// refused: identifier "_" is undefined
// refused: identifier "blockidx" is undefined
// refused: identifier "Bx" is undefined
// refused: identifier "INT" is undefined

#ifdef MENDED
__global__ void clear(float* out) {
  __shared__ float sums[16];
  const int bx = blockIdx.x;
  for (int i = 0; i < 16; i++) sums[i] = 0;
  out[bx * 16 + threadIdx.x] = sums[threadIdx.x];
}
#else
__global__ void clear(float* out) {
  _ shared _ float sums[16];
  const int BX = blockidx.x;
  for (INT i = 0; i < 16; i++) sums[i] = 0;
  out[Bx * 16 + threadIdx.x] = sums[threadIdx.x];
}
#endif
