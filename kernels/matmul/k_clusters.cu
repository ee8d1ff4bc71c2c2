// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a cluster share k, as do their warps. In k_warps.cu a product of one tile keeps one
// multiprocessor busy. Here up to most_cluster blocks take slabs of the same tile in turn; in the
// end each sends the others its sums of their shares of the tile through distributed shared memory,
// and adds those of its own share in the order of the blocks. Still one launch and no workspace,
// and the same bits in every run. A cluster is a sixteenth of an H200: rows of `blocks` have
// several of them share a very deep k, whose sums a second kernel adds. It is launched while the
// first one works. Source: "split-K" in CUTLASS; thread block clusters, distributed shared memory
// and programmatic dependent launch (CUDA, Hopper).

#include "k_warps.cuh"

namespace recheck::kernels::matmul {

template <int lanes_m, int tm, int tn, int most_cluster, int blocks>
void k_clusters(const MatmulArgs& args, const Queue& queue) {
  share_k<SharedK<lanes_m, tm, tn>, most_cluster, blocks, true>(args, queue);
}

template void k_clusters<4, 4, 4, 8, 0>(const MatmulArgs&, const Queue&);
template void k_clusters<16, 4, 4, 8, 0>(const MatmulArgs&, const Queue&);
template void k_clusters<4, 8, 4, 8, 0>(const MatmulArgs&, const Queue&);
template void k_clusters<4, 4, 4, 8, 256>(const MatmulArgs&, const Queue&);
template void k_clusters<16, 4, 4, 8, 256>(const MatmulArgs&, const Queue&);
template void k_clusters<4, 8, 4, 8, 256>(const MatmulArgs&, const Queue&);

}  // namespace recheck::kernels::matmul
