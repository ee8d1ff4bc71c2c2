// SPDX-License-Identifier: Apache-2.0
//
// One function for every shape: the rung that was fastest nearest to it.

#include "../best.hpp"
#include "transpose.hpp"

namespace recheck::kernels::transpose {
namespace {

template <auto f>
constexpr auto run = queued<f, TransposeArgs>;

constexpr Choice<TransposeArgs> choices[] = {
    {"output_order", 75, run<output_order<64, 64, 512>>},
    {"output_order_half", 75, run<output_order<32, 64, 256>>},
    {"wide_tiles", 75, run<wide_tiles<64, 64, 256>>},
    {"thin", 75, run<thin>},
    {"kept_lines", 80, run<kept_lines<64, 64, 512>>},
    {"tensor_tiles", 90, run<tensor_tiles<12>>},
};

constexpr Fastest<2> table[] = {
#include "best.inc"
};
static_assert(known<TransposeArgs, 2>(choices, table));

}  // namespace

void best(const TransposeArgs& p, const Queue& queue) {
  choose<TransposeArgs, 2>(choices, table, current_gpu(), {p.rows, p.columns}).launch(p, queue);
}

}  // namespace recheck::kernels::transpose
