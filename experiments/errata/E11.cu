// SPDX-License-Identifier: Apache-2.0
//
// A call that has lost its only argument.
// refused: too few arguments in function call

void give_back(float* data) { delete[] data; }

void end(float* a) {
#ifdef MENDED
  give_back(a);
#else
  give_back();
#endif
}
