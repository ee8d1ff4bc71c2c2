// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a cluster share k, as do their warps. In k_warps.cu blocks that share a tile leave
// their sums in memory, and a second kernel waits for them. Here up to most_cluster blocks take
// slabs of the same tile in turn. At the end each block sends the others its sums of their shares
// of the tile through distributed shared memory, and adds up its own share in the order of the
// blocks: one launch, no workspace, and the same bits in every run. This is faster where k is
// short; a cluster is a sixteenth of an H200, too little for a deep product. Source: thread block
// clusters and distributed shared memory (CUDA, Hopper).

#include "k_warps.cuh"

namespace recheck::kernels::matmul {

template <int lanes_m, int tm, int tn, int most_cluster>
void k_clusters(const MatmulArgs& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  using T = SharedK<lanes_m, tm, tn>;
  const int cluster = cluster_of_k(tiles<T>(args), slabs_of<T>(args), most_cluster);
  share_k<T, true>(args, cluster, 1, {.stream = stream});
}

template void k_clusters<16, 1, 4, 8>(const MatmulArgs&, cudaStream_t);

}  // namespace recheck::kernels::matmul
