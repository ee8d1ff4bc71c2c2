// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a cluster share k, as do their warps. In k_warps.cu a product of one tile keeps one
// multiprocessor busy. Here up to most_cluster blocks take slabs of the same tile in turn; in the
// end each sends the others its sums of their shares of the tile through distributed shared memory,
// and adds those of its own share in the order of the blocks. Still one launch and no workspace,
// and the same bits in every run. Source: "split-K" in CUTLASS; thread block clusters and
// distributed shared memory (CUDA, Hopper).

#include "k_warps.cuh"

namespace recheck::kernels::matmul {

template <int lanes_m, int tm, int tn, int most_cluster>
void k_clusters(const MatmulArgs& args, cudaStream_t stream) {
  share_k<SharedK<lanes_m, tm, tn>, most_cluster>(args, stream);
}

template void k_clusters<4, 4, 4, 8>(const MatmulArgs&, cudaStream_t);
template void k_clusters<16, 4, 4, 8>(const MatmulArgs&, cudaStream_t);
template void k_clusters<4, 8, 4, 8>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
