// SPDX-License-Identifier: Apache-2.0
//
// The roof of a matrix–vector product: its compulsory bytes, read once and used for next to
// nothing. Each thread folds what it reads by exclusive or, which no compiler can leave out and
// whose result does not depend on the order, so that the result proves that every word was read
// exactly once. Four loads of 16 bytes are in flight per thread; rows that do not start on 16 bytes
// are read word by word.

#include <algorithm>

#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

constexpr int block = 256, warp = 32;

__device__ unsigned fold(uint4 x) { return x.x ^ x.y ^ x.z ^ x.w; }

/// The exclusive or of words[0, count), as far as this thread of `threads` reads them.
__device__ unsigned fold_words(const unsigned* words, std::int64_t count, std::int64_t thread,
                               std::int64_t threads) {
  unsigned own = 0;
  std::int64_t quads = reinterpret_cast<std::uintptr_t>(words) % sizeof(uint4) == 0 ? count / 4 : 0;
  const auto* vectors = reinterpret_cast<const uint4*>(words);
  std::int64_t i = thread;
  for (; i + 3 * threads < quads; i += 4 * threads) {
    const uint4 a = vectors[i], b = vectors[i + threads], c = vectors[i + 2 * threads],
                d = vectors[i + 3 * threads];
    own ^= fold(a) ^ fold(b) ^ fold(c) ^ fold(d);
  }
  for (; i < quads; i += threads) own ^= fold(vectors[i]);
  for (i = 4 * quads + thread; i < count; i += threads) own ^= words[i];
  return own;
}

__global__ void __launch_bounds__(block) read_kernel(MatvecArgs p) {
  const std::int64_t thread = blockIdx.x * static_cast<std::int64_t>(block) + threadIdx.x;
  const std::int64_t threads = gridDim.x * static_cast<std::int64_t>(block);
  const auto* v = reinterpret_cast<const unsigned*>(p.v);
  unsigned own = fold_words(v, p.columns, thread, threads);
  if (p.pitch == p.columns * static_cast<std::int64_t>(sizeof(float))) {
    // without gaps between its rows the matrix is one long row
    const auto* a = reinterpret_cast<const unsigned*>(p.a);
    own ^= fold_words(a, static_cast<std::int64_t>(p.rows) * p.columns, thread, threads);
  } else {
    // a warp per row: any shape keeps its lanes together
    for (std::int64_t row = thread / warp; row < p.rows; row += threads / warp)
      own ^= fold_words(reinterpret_cast<const unsigned*>(line(p, row)), p.columns, thread % warp,
                        warp);
  }
  for (int half = warp / 2; half > 0; half /= 2) own ^= __shfl_xor_sync(0xffffffffu, own, half);
  __shared__ unsigned folded[block / warp];
  if (threadIdx.x % warp == 0) folded[threadIdx.x / warp] = own;
  __syncthreads();
  auto* r = reinterpret_cast<unsigned*>(p.r);
  if (threadIdx.x == 0) {
    for (int w = 1; w < block / warp; ++w) own ^= folded[w];
    r[blockIdx.x] = own;
  }
  // what no block has come to
  for (std::int64_t i = gridDim.x + thread; i < read_partials; i += threads) r[i] = 0;
}

}  // namespace

void read(const MatvecArgs& args, cudaStream_t stream) {
  // a block for as much as its threads have in flight, so that a small matrix has few to start
  const std::int64_t words = static_cast<std::int64_t>(args.rows) * args.columns;
  const auto blocks = std::clamp<std::int64_t>(words / (block * 16), 1, read_partials);
  read_kernel<<<static_cast<unsigned>(blocks), block, 0, stream>>>(args);
}

}  // namespace recheck::kernels::matvec
