// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../../../kernels/peak/matmul/matmul.hpp"
#include "../../harness/table/limits.hpp"
#include "../../matmul/matmul.hpp"
#include "../peak.hpp"
#include "promises.hpp"

namespace recheck::peak {
namespace {

namespace k = kernels::matmul;
using matmul::gpu;

template <int tile, int depth, int side>
constexpr Strategy register_tile(std::string_view name) {
  return {.name = name,
          .source = ours("2-D register tile"),
          .parameters = {{{"tile", tile}, {"side", side}}},
          .fits = grid_fits<tile>,
          .launch = gpu<k::register_tile<tile, depth, side>>};
}

template <int tile, int depth>
constexpr Strategy vectorized(std::string_view name) {
  return {.name = name,
          .source = ours("loads of four words"),
          .parameters = {{{"tile", tile}, {"depth", depth}}},
          .fits = grid_fits<tile>,
          .launch = gpu<k::vectorized<tile, depth>>};
}

/// A block's tile: warps of 4×8 lanes, tm×tn outputs each.
constexpr Parameter tile_m(int warps, int tm) { return {"tile_m", warps * 4 * tm}; }
constexpr Parameter tile_n(int warps, int tn) { return {"tile_n", warps * 8 * tn}; }

template <int warps_m, int warps_n, int tm, int tn, int stages, int blocks>
constexpr Strategy async_stages(std::string_view name) {
  return {.name = name,
          .source = ours("cp.async, several stages"),
          .parameters = {{tile_m(warps_m, tm), tile_n(warps_n, tn), {"stages", stages}}},
          .needs = from_capability<80>,
          .launch = gpu<k::async_stages<warps_m, warps_n, tm, tn, 16, stages, blocks>>};
}

template <int rows, int columns, int blocks>
std::int64_t floats_of_warps(const Shape& s) {
  return k::k_warps_floats<rows, columns, blocks>(s[0], s[1], s[2]);
}

template <int lanes_m, int tm, int tn, int blocks>
constexpr Strategy k_warps(std::string_view name) {
  constexpr Parameter rows = {"tile_m", lanes_m * tm}, columns = {"tile_n", 32 / lanes_m * tn};
  return {.name = name,
          .source = ours("k shared by the warps of a block, and by several blocks"),
          .parameters = {{rows, columns, {"blocks", blocks}}},
          .needs = from_capability<80>,
          .workspace = floats_of_warps<rows.value, columns.value, blocks>,
          .launch = gpu<k::k_warps<lanes_m, tm, tn, blocks>>};
}

std::int64_t floats_of_b(const Shape& s) { return k::aligned_b_floats(s[2], s[1]); }
std::int64_t floats_of_stream_k(const Shape& s) { return k::stream_k_floats(s[2], s[1]); }
std::int64_t floats_by_shape(const Shape& s) { return k::by_shape_floats(s[0], s[1], s[2]); }

/// `third` is the row's third parameter.
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int split>
constexpr Strategy tma_persistent(std::string_view name, Parameter third) {
  return {.name = name,
          .source = ours(split > 1 ? "the same, k split over a cluster"
                                   : "producers and consumers, a persistent grid"),
          .parameters = {{tile_m(warps_m, tm), tile_n(warps_n, tn), third}},
          .needs = on_hopper,
          .workspace = floats_of_b,
          .launch = gpu<k::tma_persistent<warps_m, warps_n, tm, tn, depth, stages, split>>};
}

template <int warps_m, int warps_n, int tm, int tn, int depth, int stages>
constexpr Strategy stream_k(std::string_view name) {
  return {.name = name,
          .source = ours("equal stretches of k"),
          .parameters = {{tile_m(warps_m, tm), tile_n(warps_n, tn), {"depth", depth}}},
          .needs = on_hopper,
          .workspace = floats_of_stream_k,
          .launch = gpu<k::stream_k<warps_m, warps_n, tm, tn, depth, stages>>};
}

std::int64_t fp16x3_floats(const Shape& s) { return k::split_fp16x3_floats(s[0], s[1], s[2]); }
std::int64_t bf16x6_floats(const Shape& s) { return k::split_bf16x6_floats(s[0], s[1], s[2]); }
std::int64_t tf32x3_floats(const Shape& s) { return k::split_tf32x3_floats(s[0], s[1], s[2]); }

/// A product of split inputs on tensor cores, whose sums are promoted every `interval` along k.
template <auto launcher, const k::SplitSums* sums, int interval, auto holds>
constexpr Strategy split(std::string_view name, std::string_view idea,
                         std::int64_t (*floats)(const Shape&)) {
  return {.name = name,
          .source = ours(idea),
          .arithmetic = Arithmetic::split,
          .note = "not IEEE fp32: within a bound of its own; the splitting is timed as well",
          .parameters = {{{"promotion", interval}}},
          .needs = on_hopper,
          .workspace = floats,
          .promise = promised<sums, interval, holds>,
          .launch = gpu<launcher>};
}

template <int levels>
std::int64_t strassen_floats(const Shape& s) {
  return k::split_strassen_floats<levels>(s[0], s[1], s[2]);
}
template <int levels>
constexpr Strategy split_strassen(std::string_view name) {
  return {.name = name,
          .source = ours("fewer products of planes: Strassen's, in Winograd's form"),
          .arithmetic = Arithmetic::split,
          .note =
              "not IEEE fp32: its bound is of a row's and a column's largest elements; the "
              "splitting is timed as well",
          .parameters = {{{"levels", levels}}},
          .needs = on_hopper,
          .workspace = strassen_floats<levels>,
          .promise = strassen_promised<levels, k::split_strassen_least_k<levels>>,
          .launch = gpu<k::split_strassen<levels>>};
}

// clang-format off
constexpr Strategy own[] = {
    {.name = "register_column", .source = ours("1-D register tile"), .parameters = {{{"tile_m", 64}, {"tile_n", 64}, {"column", 8}}}, .fits = grid_fits<64>, .launch = gpu<k::register_column<64, 8, 8>>},
    register_tile<128, 8, 8>("register_tile"),
    sweep(register_tile<64, 8, 8>("register_tile_tile64")),
    vectorized<128, 8>("vectorized"),
    sweep(vectorized<128, 16>("vectorized_depth16")),
    {.name = "warp_tile", .source = ours("a compact tile per warp"), .parameters = {{{"warps", 8}, {"depth", 16}}}, .launch = gpu<k::warp_tile<4, 2, 16>>},
    async_stages<2, 2, 8, 8, 4, 3>("async_stages"),
    sweep(async_stages<4, 2, 8, 8, 4, 2>("async_stages_tile_m128")),
    k_warps<4, 4, 4, 256>("k_warps"),
    k_warps<4, 8, 4, 256>("k_warps_tile_m32"),
    tma_persistent<4, 2, 8, 16, 16, 5, 1>("tma_persistent", {"stages", 5}),
    tma_persistent<4, 2, 8, 8, 32, 4, 2>("tma_persistent_split2", {"split", 2}),
    stream_k<4, 2, 8, 16, 16, 5>("stream_k"),
    stream_k<4, 2, 8, 8, 32, 4>("stream_k_tile_n128"),
    {.name = "by_shape", .source = ours("one of these, chosen by the shape"), .needs = on_hopper, .workspace = floats_by_shape, .launch = gpu<k::by_shape>},

    split<k::split_tf32x3<32>, &k::tf32x3_sums, 32, bf16_holds>("split_tf32x3", "two TF32 planes, three products", tf32x3_floats),
    split<k::split_bf16x6<64>, &k::bf16x6_sums, 64, bf16_holds>("split_bf16x6", "three bf16 planes, six products", bf16x6_floats),
    split<k::split_fp16x3<64>, &k::fp16x3_sums, 64, fp16_holds>("split_fp16x3", "two fp16 planes, three products", fp16x3_floats),
    split_strassen<1>("split_strassen_level1"),
    split_strassen<2>("split_strassen"),
};
// clang-format on

/// The documents' rows: the steps of the story, the rows that its checks compare them with, and the
/// CPU's program, which runs without a GPU.
constexpr std::string_view documents[] = {"cpu_serial", "global16",      "global32",    "tile16",
                                          "tile32",     "tile32_depth4", "s1_kernel_0", "s0_tiles"};

/// Where only by_shape and the library are timed, hot as well: sizes that no tile divides, and
/// those around them.
constexpr std::int64_t between[] = {1536, 2047, 2049, 3000, 4095, 4097, 4100, 8191};

/// The documents' rows are timed at the headline shape, and the two listings where the story counts
/// their loads; a sweep at large squares.
bool leaves_out(const Strategy& strategy, const Shape& shape, Regime regime) {
  const Shape headline = {4096, 4096, 4096}, counted = {1024, 1024, 1024};
  if (strategy.launch.backend == Backend::cpu) return true;
  const bool everywhere = strategy.name == "by_shape" || strategy.name == "cublas" ||
                          strategy.name == "cublas_autotuned";
  if (everywhere && std::ranges::min(shape) >= 1000)
    return regime != Regime::cold && regime != Regime::hot;
  if (std::ranges::count(between, shape[0])) return true;
  if (regime != Regime::cold)
    return regime != Regime::hot || shape != headline || strategy.sweep || strategy.listing;
  if (strategy.listing) return shape != counted;
  if (strategy.source.document != beyond) return strategy.role == Role::rung && shape != headline;
  const bool large_square = std::ranges::count(shape, shape[0]) == 3 && shape[0] >= 1024;
  return strategy.sweep && !large_square;
}

}  // namespace

Experiment matmul_experiment() {
  static const auto ladder = with_rows(matmul::ladder(), documents, own);
  Experiment experiment = matmul::experiment(ladder);
  experiment.leaves_out = leaves_out;
  for (const auto width : between) experiment.timed.push_back({width, width, width});
  std::ranges::stable_sort(experiment.timed, {}, [](const Shape& s) { return s[0] * s[1] * s[2]; });
  experiment.sustained = {"stream_k", "split_fp16x3", "cublas"};
  return experiment;
}

}  // namespace recheck::peak
