// SPDX-License-Identifier: Apache-2.0
//
// Names that have lost every second underscore, and a pair of parentheses that has lost one.
// refused: expected a ";"
// refused: identifier "_m128" is undefined
// refused: identifier "aligned" is undefined

// replaces the compiler's header, which exists only for some CPUs
struct alignas(16) Four {
  float lanes[4];
};
typedef Four __m128;

#ifdef MENDED
static void __global__ clear(float* out) { out[threadIdx.x] = 0; }

__m128 zeros() {
  float a[4] __attribute__((aligned(16))) = {};
  __m128 sums = {a[0], a[1], a[2], a[3]};
  return sums;
}
#else
static void _global_ clear(float* out);

__m128 zeros() {
  _m128 sums = {};
  float _attribute(aligned(16));
  return {};
}
#endif
