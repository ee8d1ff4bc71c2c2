// SPDX-License-Identifier: Apache-2.0
//
// A loop that has lost its brackets and the text between them.
// refused: expected a ";"
// refused: identifier "matrixi" is undefined
// refused: identifier "vj" is undefined

float product(const float* matrix, const float* v, int i, int columns) {
  float sum = 0;
#ifdef MENDED
  for (int j = 0; j < columns; j++) sum += matrix[i * columns + j] * v[j];
#else
  for (int j = 0; j columns; j +) sum += matrix[0];
  int j = 0;
  sum += matrixi * columns + j * vj;
#endif
  return sum;
}
