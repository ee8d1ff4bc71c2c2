// SPDX-License-Identifier: Apache-2.0
//
// S1's two listings (s1.cuh), compiled with -rdc=true: the linker places their tiles.

#include "s1.cuh"

namespace recheck::kernels::matmul {

template void s1_kernel_0<Relocatable>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<Relocatable>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<RelocatableAligned16>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
