// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace recheck::kernels {

/// step(i) for i from begin to end, under `#pragma unroll unroll`; if unroll is 0, without the
/// pragma, so that nvcc decides.
template <int unroll, typename Index, typename Step>
__device__ void walk(Index begin, Index end, Step step) {
  if constexpr (unroll == 0) {
    for (Index i = begin; i < end; ++i) step(i);
  } else {
#pragma unroll unroll
    for (Index i = begin; i < end; ++i) step(i);
  }
}

}  // namespace recheck::kernels
