// SPDX-License-Identifier: Apache-2.0
//
// Keywords with capitals or in pieces, and a name with a capital and without.
// refused: identifier "Void" is undefined
// refused: identifier "Float" is undefined
// refused: identifier "CSub" is undefined
// refused: identifier "_" is undefined

#ifdef MENDED
void add_up(float* c, const float* a, int n) {
  float cSub = 0;
  for (int i = 0; i < n; ++i) cSub += a[i];
  *c = cSub;
}
__global__ void stage(const float* a) {
  __shared__ float tile[16];
  tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
}
#else
Void add_up(float* c, const float* a, int n);
float add(const float* a, int n) {
  Float sum = 0;
  float cSub = 0;
  for (int i = 0; i < n; ++i) CSub += a[i];
  return cSub;
}
__global__ void stage(const float* a) {
  _ Shared _ float tile[16];
  _ Syncthreads();
}
#endif
