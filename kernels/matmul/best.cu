// SPDX-License-Identifier: Apache-2.0
//
// One function for every shape: the rung in IEEE fp32 that was fastest nearest to it.

#include "../best.hpp"
#include "matmul.hpp"

namespace recheck::kernels::matmul {
namespace {

template <auto f>
constexpr auto run = queued<f, MatmulArgs>;

constexpr Choice<MatmulArgs> choices[] = {
    {"warp_tile", 75, run<warp_tile<4, 2, 16>>},
    {"tile16", 75, run<tile<16, 1>>},
    {"tile32", 75, run<tile<32, 1>>},
    {"register_column", 75, run<register_column<64, 8, 8>>},
    {"register_tile", 75, run<register_tile<128, 8, 8>>},
    {"vectorized", 75, run<vectorized<128, 8>>},
    {"async_stages", 80, run<async_stages<2, 2, 8, 8, 16, 4, 3>>},
    {"async_stages_tile_n64", 80, run<async_stages<2, 2, 8, 4, 16, 4, 3>>},
    {"tma_persistent_split2", 90, run<tma_persistent<2, 2, 8, 4, 16, 5, 2, 3>>, hopper_only},
    {"stream_k", 90, run<stream_k<4, 2, 8, 16>>, hopper_only},
    {"stream_k_tile_n128", 90, run<stream_k<4, 2, 8, 8>>, hopper_only},
};

constexpr Fastest<3> table[] = {
#include "best.inc"
};
static_assert(known<MatmulArgs, 3>(choices, table));

}  // namespace

void best(const MatmulArgs& p, const Queue& queue) {
  constexpr int most_rows = 65535 * 16;  // of a grid of tile16; the first choice has no such limit
  const auto& choice = p.m > most_rows
                           ? choices[0]
                           : choose<MatmulArgs, 3>(choices, table, current_gpu(), {p.m, p.n, p.k});
  choice.launch(p, queue);
}

}  // namespace recheck::kernels::matmul
