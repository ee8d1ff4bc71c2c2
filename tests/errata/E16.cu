// SPDX-License-Identifier: Apache-2.0
//
// Keywords with capitals, a name with and without, and an operator in two pieces.
// refused: identifier "Void" is undefined
// refused: identifier "Float" is undefined
// refused: identifier "CSub" is undefined

#ifdef MENDED
void add_up(float* c, const float* a, int n) {
  float cSub = 0;
  for (int i = 0; i < n; ++i) cSub += a[i];
  *c = cSub;
}
#else
Void add_up(float* c, const float* a, int n);
float add(const float* a, int n) {
  Float sum = 0;
  float cSub = 0;
  for (int i = 0; i < n; ++i) CSub += a[i];
  return cSub;
}
#endif
