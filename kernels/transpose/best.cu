// SPDX-License-Identifier: Apache-2.0
//
// One function for every shape: the rung that was fastest nearest to it.

#include "../best.hpp"
#include "../call.hpp"
#include "../include/recheck/transpose.hpp"
#include "transpose.hpp"

namespace recheck::kernels::transpose {
namespace {

template <auto f>
constexpr auto run = queued<f, TransposeArgs>;

constexpr Choice<TransposeArgs> choices[] = {
    {.name = "output_order", .least = 75, .launch = run<output_order<64, 64, 512>>},
    {.name = "output_order_half", .least = 75, .launch = run<output_order<32, 64, 256>>},
    {.name = "wide_tiles", .least = 75, .launch = run<wide_tiles<64, 64, 256>>},
    {.name = "thin", .least = 75, .launch = run<thin>},
    {.name = "kept_lines", .least = 80, .launch = run<kept_lines<64, 64, 512>>},
    // 12.0 has not the shared memory
    {.name = "tensor_tiles", .least = 90, .most = 119, .launch = run<tensor_tiles<12>>},
};

constexpr Fastest<2> table[] = {
#include "best.inc"
};
constexpr Rungs<TransposeArgs, 2> rungs = {choices, table};
static_assert(rungs.known());

cudaError_t refuse(const TransposeArgs& p) {
  const bool nothing = p.rows == 0 || p.columns == 0;
  return first_error({refuse_extent(p.rows), refuse_extent(p.columns),
                      refuse_ld(p.rows, p.columns, p.ldin), refuse_ld(p.columns, p.rows, p.ldout),
                      refuse_matrix(p.in, nothing), refuse_matrix(p.out, nothing)});
}

}  // namespace

void best(const TransposeArgs& p, const Queue& queue) {
  choose(rungs, current_gpu(), p, {p.rows, p.columns}).launch(p, queue);
}

cudaError_t best(const TransposeArgs& p, void* workspace, std::size_t& bytes, cudaStream_t stream,
                 std::string_view rung) noexcept {
  return call(refuse(p), rungs, p, {p.rows, p.columns}, workspace, bytes, stream, rung);
}

std::string_view best_rung(const TransposeArgs& p) noexcept {
  return rung_of(refuse(p), rungs, p, {p.rows, p.columns});
}

Names best_rungs() noexcept {
  static constexpr auto names = names_of(choices);
  return {names.data(), names.size()};
}

}  // namespace recheck::kernels::transpose
