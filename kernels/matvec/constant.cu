// SPDX-License-Identifier: Apache-2.0
//
// The vector does not change, and all threads read the same word of it at a time, which is what
// constant memory is for. It holds 64 KB, so a longer vector goes through it in batches. Each batch
// is a copy and a launch that adds to the previous results. The first batch overwrites instead, so
// that r needs no clearing (S3's listing always adds, and does not say where r is cleared). Source:
// S3 mxvNaiveTransposeConstant (A15).

#include <algorithm>

#include "../one_stream.hpp"
#include "matvec.hpp"

namespace recheck::kernels::matvec {
namespace {

// the only global variable of these kernels; launches on different streams share it
__constant__ float batch[constant_batch];
OneStream batch_users;

template <int unroll>
__global__ void constant_kernel(MatvecArgs p, int start, int end) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (row >= p.rows) return;
  float sum = start == 0 ? 0 : p.r[row];
#pragma unroll unroll
  for (int j = start; j < end; ++j) sum += line(p, j)[row] * batch[j - start];
  p.r[row] = sum;
}

void copy_batch(const MatvecArgs& p, int start, int end, cudaStream_t stream) {
  if (end > start)
    cudaMemcpyToSymbolAsync(batch, p.v + start, (end - start) * sizeof(float), 0,
                            cudaMemcpyDeviceToDevice, stream);
}

/// Calls step(start, end) for each batch; once with an empty batch if columns is 0.
template <typename Step>
void for_each_batch(int columns, Step step) {
  for (int start = 0, end; start == 0 || start < columns; start = end) {
    end = std::min(columns, start + constant_batch);
    step(start, end);
    if (end == start) return;
  }
}

}  // namespace

template <int block, int unroll>
void constant(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  batch_users.in_turn(stream, [&] {
    for_each_batch(args.columns, [&](int start, int end) {
      copy_batch(args, start, end, stream);
      constant_kernel<unroll><<<(args.rows - 1) / block + 1, block, 0, stream>>>(args, start, end);
    });
  });
}

void constant_copy(const MatvecArgs& args, cudaStream_t stream) {
  if (args.rows == 0) return;
  batch_users.in_turn(stream, [&] {
    for_each_batch(args.columns, [&](int start, int end) { copy_batch(args, start, end, stream); });
  });
}

template void constant<256, 4>(const MatvecArgs&, cudaStream_t);

}  // namespace recheck::kernels::matvec
