// SPDX-License-Identifier: Apache-2.0
//
// One function for every shape: the rung in IEEE fp32 that was fastest there, or, where nobody has
// measured, is expected to be.

#include "../best.hpp"
#include "../call.hpp"
#include "../include/recheck/matmul.hpp"
#include "../matvec/chunk.cuh"
#include "matmul.hpp"
#include "warp_tile.cuh"

namespace recheck::kernels::matmul {
namespace {

template <auto f>
constexpr auto run = queued<f, MatmulArgs>;

/// A grid's second dimension counts tiles of so many rows.
template <int tile>
bool rows_fit(const MatmulArgs& p) {
  return p.m <= 65535 * tile;
}

std::int64_t floats_of_b(const MatmulArgs& p) {
  return on_vectors(p.b, p.ldb) ? 0 : aligned_b_floats(p.k, p.n);
}
std::int64_t floats_of_stream_k(const MatmulArgs& p) {
  return stream_k_floats(0, 0) + floats_of_b(p);
}

template <int rows, int columns, int blocks>
std::int64_t floats_of_stretches(const MatmulArgs& p) {
  return k_stretches_floats<rows, columns, blocks>(p.m, p.n, p.k);
}

template <int rows, int columns, int blocks>
std::int64_t floats_of_warps(const MatmulArgs& p) {
  return k_warps_floats<rows, columns, blocks>(p.m, p.n, p.k);
}

std::int64_t floats_of_matvec(const MatmulArgs& p) { return matvec_floats(p.m, p.n, p.k); }

/// Whether a product of one column goes to matvec's rungs rather than to tiles, by what 218 took on
/// H100s and an H200 (vector_times.json) and these rungs themselves (../matvec/best_times.json):
/// all with bulk copies and clusters, but for little work; without, as long as a warp loads a row
/// in few steps, which are larger of whole vectors.
bool column_first(const GpuModel& gpu, const kernels::matvec::MatvecArgs& p) {
  if (p.columns < 32) return false;
  if (gpu.code >= 90) return true;
  if (all_on_vectors(p)) return p.columns <= std::max(12288, 160 * std::min(p.rows, 1 << 20));
  if (p.columns <= one_step(p)) return true;
  return p.rows >= 2048 && p.columns <= 8192 && (p.rows <= 4096 || p.columns >= 2560);
}

/// Whether one of one row does, by what 144 took there: of many columns of B, or, without clusters,
/// of a deep sum, which blocks share, but not between 9 and 31 columns, where tiles were as fast.
bool row_first(const GpuModel& gpu, const MatmulArgs& p) {
  const std::int64_t elements = std::int64_t{p.n} * p.k;
  if (gpu.code >= 90 && gpu.compute_capability < 120)
    return elements >= (p.n >= 2048 ? 1 << 17 : 1 << 20) && p.n >= 1000;
  if (p.n <= 8) return p.k >= 497;  // where tiles' sums take a second launch
  return p.n >= 32 && p.k >= 512 && elements >= 1 << 19;
}

bool matvec_first(const GpuModel& gpu, const MatmulArgs& p) {
  return is_matvec_by_rows(p) ? column_first(gpu, by_rows(p)) : row_first(gpu, p);
}

// plans: a tile's rows and columns, the depth of a slab, resident blocks of an H200
// clang-format off
constexpr Choice<MatmulArgs> choices[] = {
    {.name = "warp_tile", .least = 75, .plan = {128, 128, 16, 2}, .launch = run<warp_tile<4, 2, 16>>},
    {.name = "warp_tile_warps4", .least = 75, .plan = {64, 128, 16, 3}, .launch = run<warp_tile<2, 2, 16>>},
    {.name = "tile8_depth4", .least = 75, .plan = {8, 8, 32, 32}, .launch = run<tile<8, 4>>, .fits = rows_fit<8>},
    {.name = "tile8_depth8", .least = 75, .plan = {8, 8, 64, 32}, .launch = run<tile<8, 8>>, .fits = rows_fit<8>},
    {.name = "tile16", .least = 75, .plan = {16, 16, 16, 8}, .launch = run<tile<16, 1>>, .fits = rows_fit<16>},
    {.name = "tile16_depth2", .least = 75, .plan = {16, 16, 32, 8}, .launch = run<tile<16, 2>>, .fits = rows_fit<16>},
    {.name = "tile16_depth4", .least = 75, .plan = {16, 16, 64, 8}, .launch = run<tile<16, 4>>, .fits = rows_fit<16>},
    {.name = "tile16_depth8", .least = 75, .plan = {16, 16, 128, 8}, .launch = run<tile<16, 8>>, .fits = rows_fit<16>},
    {.name = "tile32", .least = 75, .plan = {32, 32, 32, 2}, .launch = run<tile<32, 1>>, .fits = rows_fit<32>},
    {.name = "register_column", .least = 75, .plan = {64, 64, 8, 4}, .launch = run<register_column<64, 8, 8>>, .fits = rows_fit<64>},
    {.name = "register_tile", .least = 75, .plan = {128, 128, 8, 2}, .launch = run<register_tile<128, 8, 8>>, .fits = rows_fit<128>},
    {.name = "vectorized", .least = 75, .plan = {128, 128, 8, 2}, .launch = run<vectorized<128, 8>>, .fits = rows_fit<128>},
    {.name = "outer", .least = 75, .plan = {64, 128, 4, 3}, .launch = run<outer<8, 4, 4>>},
    {.name = "matvec", .least = 75, .launch = run<matvec>, .fits = is_matvec, .floats = floats_of_matvec, .first = matvec_first},
    {.name = "k_stretches", .least = 75, .plan = {64, 128, 16, 3, 1, 384}, .launch = run<k_stretches<2, 2, 8, 8, 384>>, .floats = floats_of_stretches<64, 128, 384>},
    {.name = "k_stretches_tile_m16", .least = 75, .plan = {16, 32, 16, 16, 1, 2048}, .launch = run<k_stretches<1, 1, 4, 4, 2048>>, .floats = floats_of_stretches<16, 32, 2048>},
    {.name = "async_stages", .least = 80, .plan = {64, 128, 16, 3}, .launch = run<async_stages<2, 2, 8, 8, 16, 4, 3>>},
    {.name = "async_stages_tile_n64", .least = 80, .plan = {64, 64, 16, 3}, .launch = run<async_stages<2, 2, 8, 4, 16, 4, 3>>},
    {.name = "k_warps", .least = 80, .plan = {16, 32, 16, 2, 1, 256, false, 1}, .launch = run<k_warps<4, 4, 4, 256>>, .floats = floats_of_warps<16, 32, 256>},
    {.name = "k_warps_tile_m32", .least = 80, .plan = {32, 32, 16, 2, 1, 256, false, 1}, .launch = run<k_warps<4, 8, 4, 256>>, .floats = floats_of_warps<32, 32, 256>},
    {.name = "k_warps_tile_m64", .least = 80, .plan = {64, 8, 16, 2, 1, 256, false, 1}, .launch = run<k_warps<16, 4, 4, 256>>, .floats = floats_of_warps<64, 8, 256>},
    {.name = "k_warps_tile_n8", .least = 80, .plan = {16, 8, 16, 2, 1, 256, false, 1}, .launch = run<k_warps<16, 1, 4, 256>>, .floats = floats_of_warps<16, 8, 256>},
    {.name = "k_clusters", .least = 90, .plan = {16, 8, 16, 2, 1, 0, false, 8}, .launch = run<k_clusters<16, 1, 4, 8>>},
    {.name = "k_clusters_tile_n32", .least = 90, .plan = {16, 32, 16, 2, 1, 0, false, 8}, .launch = run<k_clusters<4, 4, 4, 8>>},
    {.name = "tma_persistent_split2", .least = 90, .most = hopper_only, .plan = {64, 64, 16, 3, 2}, .launch = run<tma_persistent<2, 2, 8, 4, 16, 5, 2, 3>>, .floats = floats_of_b},
    {.name = "stream_k", .least = 90, .most = hopper_only, .plan = {128, 256, 16, 1, 1, 0, true}, .launch = run<stream_k<4, 2, 8, 16>>, .floats = floats_of_stream_k},
    {.name = "stream_k_tile_n128", .least = 90, .most = hopper_only, .plan = {128, 128, 16, 1, 1, 0, true}, .launch = run<stream_k<4, 2, 8, 8>>, .floats = floats_of_stream_k},
};
// clang-format on

constexpr Fastest<3> table[] = {
#include "best.inc"
};
constexpr Cost costs[] = {
#include "best_costs.inc"
};
constexpr Rungs<MatmulArgs, 3> rungs = {choices, table, costs, all_on_vectors};
static_assert(rungs.known());

cudaError_t refuse(const MatmulArgs& p) {
  const bool nothing = p.m == 0 || p.n == 0;
  return first_error({refuse_extent(p.m), refuse_extent(p.n), refuse_extent(p.k),
                      refuse_ld(p.m, p.k, p.lda), refuse_ld(p.k, p.n, p.ldb),
                      refuse_ld(p.m, p.n, p.ldc), refuse_matrix(p.a, nothing || p.k == 0),
                      refuse_matrix(p.b, nothing || p.k == 0), refuse_matrix(p.c, nothing)});
}

}  // namespace

void best(const MatmulArgs& p, const Queue& queue) {
  choose(rungs, current_gpu(), p, {p.m, p.n, p.k}).launch(p, queue);
}

cudaError_t best(const MatmulArgs& p, void* workspace, std::size_t& bytes, cudaStream_t stream,
                 std::string_view rung) noexcept {
  return call(refuse(p), rungs, p, {p.m, p.n, p.k}, workspace, bytes, stream, rung);
}

std::string_view best_on(const GpuModel& gpu, const MatmulArgs& p) {
  return choose(rungs, gpu, p, {p.m, p.n, p.k}).name;
}

std::string_view best_rung(const MatmulArgs& p) noexcept {
  return rung_of(refuse(p), rungs, p, {p.m, p.n, p.k});
}

Names best_rungs() noexcept {
  static constexpr auto names = names_of(choices);
  return {names.data(), names.size()};
}

}  // namespace recheck::kernels::matmul
