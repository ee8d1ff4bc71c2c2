// SPDX-License-Identifier: Apache-2.0
//
// S1's two listings (s1.cuh), as printed and in other words.

#include "s1.cuh"

namespace recheck::kernels::matmul {

template void s1_kernel_0<Printed>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_0<UnsignedIndex>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_0<Index64>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_0<Unrolled<1>>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_0<Unrolled<16>>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_0<Bounded>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_0<Restrict>(const MatmulArgs&, cudaStream_t);

template void s1_kernel_1<Printed>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<UnsignedIndex>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<Index64>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<PaddedA<1>>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<PaddedA<4>>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<PaddedB<1>>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<PaddedB<4>>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<Aligned16>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<Unrolled<1>>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<Unrolled<16>>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<Bounded>(const MatmulArgs&, cudaStream_t);
template void s1_kernel_1<Restrict>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
