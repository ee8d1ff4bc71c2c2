// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../../reference/matmul.hpp"
#include "../harness/limits.hpp"
#include "matmul.hpp"
#include "promises.hpp"

namespace recheck::matmul {
namespace {

namespace k = kernels::matmul;

constexpr Source guide_global = {"S2", "first MatMulKernel", "A05"};
constexpr Source guide = {"S2", "second MatMulKernel", "A06"};
constexpr Source storage = {"S0", "section 2, source program", "A07"};
constexpr Source policy = {"S0", "section 4, allocation policies", "A08"};
constexpr Source strips = {"S2", "comment in the second MatMulKernel", "A09"};
constexpr Source vendor = {"vendor", "cuBLAS"};

template <int tile, int depth>
Reason tile_fits(const Shape& s, const Device& device) {
  if (auto reason = shared_memory_fits(k::tile_shared_bytes(tile, depth), device)) return reason;
  return grid_fits(s[0], tile);
}

template <int tile>
Reason strip_fits(const Shape& s, const Device& device) {
  if (auto reason = shared_memory_fits(k::full_strip_shared_bytes(tile, s[2]), device))
    return reason;
  return grid_fits(s[0], tile);
}

/// What a listing asks of a shape: whole tiles of 16×16, of `along_k` along k, and int indices.
template <int along_k>
Reason listing_fits(const Shape& s, const Device&) {
  if (auto reason = whole_tiles("m", s[0], 16)) return reason;
  if (auto reason = whole_tiles("n", s[1], 16)) return reason;
  if (along_k > 1)
    if (auto reason = whole_tiles("k", s[2], along_k)) return reason;
  // one row more of B: where counters stand at the end
  if (auto reason = indices_fit(std::max({s[0] * s[1], s[0] * s[2], (s[2] + 1) * s[1]}), 31))
    return reason;
  return grid_fits(s[0], 16);
}

/// S0's takes one width for all.
template <int tile>
Reason square_listing_fits(const Shape& s, const Device& device) {
  if (s[0] != s[1] || s[1] != s[2]) return "has one width for all: the matrices have to be square";
  if (auto reason = whole_tiles("width", s[0], tile)) return reason;
  return listing_fits<16>(s, device);
}

Reason strips_listing_fits(const Shape& s, const Device& device) {
  if (auto reason = listing_fits<16>(s, device)) return reason;
  return strip_fits<16>(s, device);
}

/// A listing of the documents as printed.
template <auto launcher>
constexpr Strategy listing(std::string_view name, Source source, std::string_view note,
                           Reason (*fits)(const Shape&, const Device&),
                           Parameter parameter = {"tile", 16}) {
  return {.name = name,
          .source = source,
          .note = note,
          .parameters = {{{"block", 256}, parameter}},
          .listing = true,
          .packed = true,
          .fits = fits,
          .launch = gpu<launcher>};
}

constexpr std::string_view as_printed = "as printed: int indices, no guards",
                           as_printed_static = "as printed: int indices, no guards, static arrays";

/// A row of the block-policy sweep.
template <int tile, int depth>
constexpr Strategy block_policy(std::string_view name, Source source) {
  return {.name = name,
          .source = source,
          .note = tile == 16 ? "general form: guards, 64-bit strides, dynamic shared memory"
                             : "general form; the document has tile 16 alone",
          .parameters = {{{"tile", tile}, {"depth", depth}}},
          .fits = tile_fits<tile, depth>,
          .launch = gpu<k::tile<tile, depth>>};
}

// families of rungs by their plans

template <int tile, int depth, int column>
constexpr Strategy register_column(std::string_view name) {
  return {.name = name,
          .source = ours("1-D register tile"),
          .parameters = {{{"tile_m", tile}, {"tile_n", tile}, {"column", column}}},
          .fits = grid_fits<tile>,
          .launch = gpu<k::register_column<tile, depth, column>>};
}

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

template <int warps_m, int warps_n, int depth>
constexpr Strategy warp_tile(std::string_view name) {
  return {.name = name,
          .source = ours("a compact tile per warp"),
          .parameters = {{{"warps", warps_m * warps_n}, {"depth", depth}}},
          .launch = gpu<k::warp_tile<warps_m, warps_n, depth>>};
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

template <int lanes_m, int tm, int tn, int most_cluster>
constexpr Strategy k_clusters(std::string_view name) {
  return {.name = name,
          .source = ours("k shared by the warps of a block, and by the blocks of a cluster"),
          .parameters = {{{"tile_m", lanes_m * tm},
                          {"tile_n", 32 / lanes_m * tn},
                          {"cluster", most_cluster}}},
          .needs = from_capability<90>,
          .launch = gpu<k::k_clusters<lanes_m, tm, tn, most_cluster>>};
}

std::int64_t floats_of_b(const Shape& s) { return k::aligned_b_floats(s[2], s[1]); }
std::int64_t floats_of_stream_k(const Shape& s) { return k::stream_k_floats(s[2], s[1]); }

/// `told` is the third parameter that the row names.
template <int warps_m, int warps_n, int tm, int tn, int depth, int stages, int split, int blocks>
constexpr Strategy tma_persistent(std::string_view name, Parameter told) {
  return {.name = name,
          .source = ours(split > 1 ? "the same, k split over a cluster"
                                   : "producers and consumers, a persistent grid"),
          .parameters = {{tile_m(warps_m, tm), tile_n(warps_n, tn), told}},
          .needs = on_hopper,
          .workspace = floats_of_b,
          .launch = gpu<k::tma_persistent<warps_m, warps_n, tm, tn, depth, stages, split, blocks>>};
}

template <int warps_m, int warps_n, int tm, int tn>
constexpr Strategy stream_k(std::string_view name) {
  return {.name = name,
          .source = ours("equal stretches of k"),
          .parameters = {{tile_m(warps_m, tm), tile_n(warps_n, tn)}},
          .needs = on_hopper,
          .workspace = floats_of_stream_k,
          .launch = gpu<k::stream_k<warps_m, warps_n, tm, tn>>};
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

template <int interval>
constexpr Strategy split_fp16x3(std::string_view name) {
  return split<k::split_fp16x3<interval>, &k::fp16x3_sums, interval, fp16_holds>(
      name, "two fp16 planes, three products", fp16x3_floats);
}
template <int interval>
constexpr Strategy split_bf16x6(std::string_view name) {
  return split<k::split_bf16x6<interval>, &k::bf16x6_sums, interval, bf16_holds>(
      name, "three bf16 planes, six products", bf16x6_floats);
}
template <int interval>
constexpr Strategy split_tf32x3(std::string_view name) {
  return split<k::split_tf32x3<interval>, &k::tf32x3_sums, interval, bf16_holds>(
      name, "two TF32 planes, three products", tf32x3_floats);
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

#ifdef RECHECK_HAVE_BLAS
constexpr Launcher blas = cpu<reference::matmul_blas>;
#else
constexpr Launcher blas = {Backend::cpu, nullptr, "built without a BLAS library"};
#endif

// clang-format off
constexpr Strategy rows[] = {
    {.name = "cpu_serial", .source = {"S1", "MatrixMulCPU", "A01"}, .launch = cpu<reference::matmul_serial>},
    {.name = "cpu_blas", .source = {"vendor", "BLAS"}, .role = Role::baseline, .launch = blas},
    {.name = "global16", .source = {"S1", "matrix_kernel_0", "A03"}, .note = "general form: guards, 64-bit strides", .fits = grid_fits<16>, .launch = gpu<k::global<16>>},
    {.name = "global32", .source = guide_global, .note = "general form; block 32×32 in place of the document's 16×16", .fits = grid_fits<32>, .launch = gpu<k::global<32>>},
    block_policy<8, 1>("tile8", storage),
    block_policy<16, 1>("tile16", {"S1", "matrix_kernel_1", "A04"}),
    block_policy<32, 1>("tile32", storage),
    {.name = "submatrix16", .source = guide, .note = "general form: guards, 64-bit strides", .fits = grid_fits<16>, .launch = gpu<k::submatrix<16>>},
    block_policy<8, 2>("tile8_depth2", policy),
    block_policy<8, 4>("tile8_depth4", policy),
    block_policy<8, 8>("tile8_depth8", policy),
    block_policy<16, 2>("tile16_depth2", policy),
    block_policy<16, 4>("tile16_depth4", policy),
    block_policy<16, 8>("tile16_depth8", policy),
    block_policy<32, 2>("tile32_depth2", policy),
    block_policy<32, 4>("tile32_depth4", policy),
    block_policy<32, 8>("tile32_depth8", policy),
    {.name = "full_strip16", .source = strips, .note = "reconstructed: S2 only asks about it; general form", .fits = strip_fits<16>, .launch = gpu<k::full_strip<16>>},

    listing<k::s1_kernel_0>("s1_kernel_0", {"S1", "matrix_kernel_0", "A03"}, as_printed, listing_fits<1>, {}),
    listing<k::s1_kernel_1>("s1_kernel_1", {"S1", "matrix_kernel_1", "A04"}, as_printed_static, listing_fits<16>),
    listing<k::s2_global>("s2_global", guide_global, as_printed, listing_fits<1>, {}),
    listing<k::s2_shared>("s2_shared", guide, as_printed_static, listing_fits<16>),
    listing<k::s2_full_strips>("s2_full_strips", strips, "reconstructed from a comment, in the form of s2_shared: S2 has no such listing", strips_listing_fits),
    listing<k::s0_tiles>("s0_tiles", storage, as_printed_static, square_listing_fits<16>),
    listing<k::s0_tiles_depth4>("s0_tiles_depth4", policy, "reconstructed from the description, in the form of s0_tiles: four loads per thread and phase are not in it", square_listing_fits<64>, {"depth", 4}),

    register_column<64, 8, 8>("register_column"),
    register_tile<128, 8, 8>("register_tile"),
    sweep(register_tile<64, 8, 8>("register_tile_tile64")),
    vectorized<128, 8>("vectorized"),
    sweep(vectorized<128, 16>("vectorized_depth16")),
    warp_tile<4, 2, 16>("warp_tile"),
    async_stages<2, 2, 8, 8, 4, 3>("async_stages"),
    sweep(async_stages<4, 2, 8, 8, 4, 2>("async_stages_tile_m128")),
    k_warps<4, 4, 4, 256>("k_warps"),
    k_warps<4, 8, 4, 256>("k_warps_tile_m32"),
    k_clusters<16, 1, 4, 8>("k_clusters"),
    tma_persistent<4, 2, 8, 16, 16, 5, 1, 1>("tma_persistent", {"stages", 5}),
    tma_persistent<2, 2, 8, 4, 16, 5, 2, 3>("tma_persistent_split2", {"split", 2}),
    stream_k<4, 2, 8, 16>("stream_k"),
    stream_k<4, 2, 8, 8>("stream_k_tile_n128"),

    split_tf32x3<32>("split_tf32x3"),
    split_bf16x6<64>("split_bf16x6"),
    sweep(split_bf16x6<32>("split_bf16x6_promotion32")),
    sweep(split_bf16x6<128>("split_bf16x6_promotion128")),
    sweep(split_bf16x6<256>("split_bf16x6_promotion256")),
    sweep(split_bf16x6<512>("split_bf16x6_promotion512")),
    sweep(split_bf16x6<0>("split_bf16x6_promotion0")),
    split_fp16x3<64>("split_fp16x3"),
    sweep(split_fp16x3<32>("split_fp16x3_promotion32")),
    sweep(split_fp16x3<128>("split_fp16x3_promotion128")),
    sweep(split_fp16x3<256>("split_fp16x3_promotion256")),
    sweep(split_fp16x3<512>("split_fp16x3_promotion512")),
    sweep(split_fp16x3<0>("split_fp16x3_promotion0")),
    split_strassen<1>("split_strassen_level1"),
    split_strassen<2>("split_strassen"),

    {.name = "cublas", .source = vendor, .role = Role::baseline, .note = "pedantic fp32", .launch = gpu<k::cublas>},
    {.name = "cublas_tf32", .source = vendor, .role = Role::baseline, .arithmetic = Arithmetic::tf32, .note = "not fp32-accurate: inputs cut to 10 bits of mantissa", .launch = gpu<k::cublas_tf32>},
};
// clang-format on

}  // namespace

std::span<const Strategy> ladder() { return rows; }

}  // namespace recheck::matmul
