// SPDX-License-Identifier: Apache-2.0
//
// Tables for a recheck of its own (tests/harness/run_test.cpp runs it): rows that crash the device,
// or never end, between two right ones.
#include "../../experiments/harness/case/rescue.hpp"
#include "../../experiments/matmul/matmul.hpp"
#include "../../experiments/recheck.hpp"

namespace recheck {
namespace {

__global__ void far_outside(kernels::matmul::MatmulArgs p) { p.c[0] = p.a[std::int64_t{1} << 40]; }

void reads_far_outside(const kernels::matmul::MatmulArgs& p, cudaStream_t stream) {
  far_outside<<<1, 1, 0, stream>>>(p);
}

__global__ void until_told(volatile float* c) {
  while (c[0] != 1.0F) {
  }
}

void never_ends(const kernels::matmul::MatmulArgs& p, cudaStream_t stream) {
  until_told<<<1, 1, 0, stream>>>(p.c);
}

constexpr Source none = {"mutant", "tests"};
constexpr Strategy rows[] = {
    {.name = "before", .source = none, .launch = matmul::gpu<kernels::matmul::tile<16, 1>>},
    {.name = "reads_far_outside", .source = none, .launch = matmul::gpu<reads_far_outside>},
    {.name = "never_ends", .source = none, .launch = matmul::gpu<never_ends>},
    {.name = "after", .source = none, .launch = matmul::gpu<kernels::matmul::tile<16, 1>>},
};

}  // namespace
}  // namespace recheck

int main(int argc, char** argv) {
  recheck::least_patience() = 3;
  const recheck::Experiment experiments[] = {recheck::matmul::experiment(recheck::rows)};
  return recheck::main(argc, argv, experiments);
}
