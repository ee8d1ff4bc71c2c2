// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <recheck.hpp>

// Two problems whose kernels read what they write: a filter, whose output length depends on the
// data, and y += A x with a sparse A.
namespace in_place {

/// Appends the positive elements to `out`, in any order, and adds their number to `kept`.
struct FilterArgs {
  const float* in;
  std::int64_t count;
  unsigned* kept;
  float* out;
};
inline FilterArgs filter_arguments(const recheck::Call& call) {
  return {call.as<const float>(0), call.shape[0], call.as<unsigned>(2), call.as<float>(3)};
}
void filter(const FilterArgs& args, cudaStream_t stream);

/// y += A x, where row i of A has the elements from starts[i] to starts[i + 1].
struct SparseArgs {
  const int *starts, *columns;
  const float *values, *x;
  std::int64_t rows;
  float* y;
};
inline SparseArgs sparse_arguments(const recheck::Call& call) {
  return {call.as<const int>(0),   call.as<const int>(1), call.as<const float>(2),
          call.as<const float>(3), call.shape[0],         call.as<float>(5)};
}
void multiply(const SparseArgs& args, cudaStream_t stream);

recheck::Experiment filter_experiment(std::span<const recheck::Strategy> others = {});
recheck::Experiment sparse_experiment(std::span<const recheck::Strategy> others = {});

}  // namespace in_place
